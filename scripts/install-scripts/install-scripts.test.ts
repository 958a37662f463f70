import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Lock {
  readonly packages: Readonly<
    Record<string, { hasInstallScript?: boolean; resolved?: string; integrity?: string; link?: boolean }>
  >;
}
interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const packages = Object.entries((JSON.parse(read('package-lock.json')) as Lock).packages);
const { allowScripts, scripts } = JSON.parse(read('package.json')) as Manifest;

test('.npmrc keeps every npm from running install scripts', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
});

test('allowScripts refuses every package that has an install script, and names no other', () => {
  const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])));
});

test('every npm ci of the Dockerfile says that no install script runs', () => {
  const installs = read('Dockerfile').match(/^RUN .*\bnpm (ci|i|install)\b.*$/gm);
  expect(installs).toHaveLength(1);
  expect(installs?.filter((line) => !line.includes(' --ignore-scripts'))).toEqual([]);
});

test('the lock file names no registry, so that everyone uses his own', () => {
  expect(packages.filter(([, { resolved, link }]) => resolved !== undefined && link !== true)).toEqual([]);
});

test('the lock file has the hash of everything that comes from a registry, also of what one workspace alone needs', () => {
  const foreign = packages.filter(([path, { link }]) => path.includes('node_modules/') && link !== true);
  expect(foreign.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))).toEqual([]);
});

test('a script that starts node itself has the right one put on its PATH first', () => {
  const starting = Object.entries(scripts).filter(([, command]) => /(^|&& )(exec )?node /.test(command));
  const ready = /^(scripts\/use-node\.js|npm run check) && /;
  expect(starting.filter(([, command]) => !ready.test(command))).toEqual([]);
});

test('no script waits for a pre or post script: npm leaves them out with ignore-scripts', () => {
  const names = Object.keys(scripts);
  const around = names.filter((name) => names.includes(name.replace(/^(pre|post)/, '')) && /^(pre|post)/.test(name));
  expect(around).toEqual([]);
});
