import { readApiConfig } from './api-config.ts';
import { VARIABLE_TEXTS, VARIABLES, type VariableText } from './variables.ts';
import { readWorkerConfig } from './worker-config.ts';

const REQUIRED = {
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
};
const READERS = { api: readApiConfig, worker: readWorkerConfig };

const TEXTS: [name: string, text: VariableText][] = Object.values(VARIABLE_TEXTS).flatMap((group) =>
  Object.entries<VariableText>(group),
);
const DEFAULTS = TEXTS.flatMap(([name, { usual }]) => (typeof usual === 'string' ? [[name, usual] as const] : []));

test.each(DEFAULTS)('%s=%s is what a process takes without it', (name, usual) => {
  const roles = (['api', 'worker'] as const).filter((role) => VARIABLES[role].includes(name));
  expect(roles).not.toEqual([]);
  for (const role of roles) {
    const read = READERS[role];
    expect(read({ ...REQUIRED, [name]: usual })).toEqual(read(REQUIRED));
  }
});

test('every variable is told, and told once', () => {
  expect(DEFAULTS.length).toBeGreaterThan(15);
  const names = TEXTS.map(([name]) => name);
  expect(names.sort()).toEqual([...new Set([...VARIABLES.api, ...VARIABLES.worker])].sort());
});
