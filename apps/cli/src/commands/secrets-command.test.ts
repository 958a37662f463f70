import type { ReencryptReport } from '@herald/store/secrets/reencrypt-secrets';
import { describeForget, describeReencrypt } from './secrets-command.ts';

const DONE: ReencryptReport = { key: 'aaaa1111', moved: 0, inPlace: 3, forgotten: [], inUse: [], unopenable: [] };

test.each<[string, Partial<ReencryptReport>, readonly string[]]>([
  ['nothing to do', {}, ['Nothing to re-encrypt: 3 secrets are encrypted with the key aaaa1111.']],
  [
    'a run that is complete',
    { moved: 1, inPlace: 1, forgotten: ['bbbb2222'] },
    [
      'Re-encrypted 1 secret with the key aaaa1111; now 1 secret is encrypted with it.',
      'No secret is left under the key bbbb2222: drop it from SECRETS_KEY everywhere.',
    ],
  ],
])('%s is said in plain sentences, and is no problem', (_name, report, lines) => {
  expect(describeReencrypt({ ...DONE, ...report })).toEqual({ lines, problems: [] });
});

test('secrets that don’t decrypt are named by their endpoints, once each, by the key that they name', () => {
  const unopenable = [
    { endpointId: 'wh_1', key: 'bbbb2222' },
    { endpointId: 'wh_1', key: 'bbbb2222' },
    { endpointId: 'cb_2', key: 'cccc3333' },
  ];
  expect(describeReencrypt({ ...DONE, unopenable }).problems).toEqual([
    expect.stringMatching(/the secrets of wh_1\. They name the key bbbb2222: put it behind the first/),
    expect.stringMatching(/the secrets of cb_2\. They name the key cccc3333: put it behind the first/),
  ]);
});

test('a sentence names twenty endpoints, and says how many more there are', () => {
  const unopenable = Array.from({ length: 23 }, (_, index) => ({ endpointId: `wh_${index}`, key: 'bbbb2222' }));
  const [problem] = describeReencrypt({ ...DONE, unopenable }).problems;
  expect(problem).toContain('wh_19 and 3 more (--json lists all)');
  expect(problem).not.toContain('wh_20');
});

test('a key that is still in use is a problem that names the processes to restart', () => {
  expect(describeReencrypt({ ...DONE, inUse: ['bbbb2222'] }).problems).toEqual([
    expect.stringMatching(/still encrypts with the key bbbb2222\. Make aaaa1111 the first of SECRETS_KEY in every API/),
  ]);
});

test.each([
  ['unknown', [], 0, 1],
  ['listed', [], 0, 1],
  ['in_use', [], 0, 1],
  ['forgotten', [], 1, 0],
  ['forgotten', ['wh_1'], 2, 0],
] as const)('forgetting a key: %s, with the secrets of %j encrypted with it', (kind, endpointIds, lines, problems) => {
  const told = describeForget('bbbb2222', { kind, endpointIds });
  expect([told.lines.length, told.problems.length]).toEqual([lines, problems]);
  for (const id of endpointIds) expect(told.lines.join('\n')).toContain(id);
});
