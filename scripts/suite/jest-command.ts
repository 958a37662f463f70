/** What Node is called with to run jest, before jest's own arguments. As in `npm run jest`. */
export const JEST: readonly string[] = [
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
