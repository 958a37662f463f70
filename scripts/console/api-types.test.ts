import { readFileSync } from 'node:fs';
import { API_TYPES_FILE, renderApiTypes } from './render-api-types.ts';

test('the console’s types of the API are those of the document; npm run console:types writes them', async () => {
  expect(readFileSync(API_TYPES_FILE, 'utf8') === (await renderApiTypes())).toBe(true);
});
