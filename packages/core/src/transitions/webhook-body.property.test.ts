import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { newTaskId, TaskIdText, TransitionIdText } from '../ids/ids.ts';
import { factOf } from './fact.ts';
import { TransitionReport } from './transition-report.ts';
import { WEBHOOK_PAYLOADS } from './webhook-payloads.ts';
import { createActionUrl, renderWebhookBody } from './webhook-body.ts';

const RUNS = { numRuns: 500 };
const CANARY = 'canary';
const PUBLIC_NAMES = ['summary', 'progress', 'id', 'primary', 'title', 'label', 'description', '__proto__'];

/** Any JSON with a string in it that must never leave. */
const internalValue = fc.oneof(
  fc.constant(CANARY),
  fc.array(fc.constant(CANARY), { minLength: 1, maxLength: 3 }),
  fc.dictionary(fc.string(), fc.oneof(fc.constant(CANARY), fc.jsonValue({ maxDepth: 2 })), { maxKeys: 3 }),
  fc.constant({ nested: { deeper: [{ token: CANARY }] } }),
);
const internalFields = fc.dictionary(
  fc.oneof(
    fc.constantFrom('internalNote', 'toolOutput', 'execution_workspace_id', 'toJSON', 'constructor', CANARY),
    fc.string().filter((name) => !PUBLIC_NAMES.includes(name)),
  ),
  internalValue,
  { minKeys: 1, maxKeys: 5 },
);

/** Public fields with internal ones among them, in any order. */
function withInternals<Fields extends object>(fields: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> {
  return fc
    .tuple(fields, internalFields, fc.boolean())
    .map(([known, internal, first]) => (first ? { ...internal, ...known } : { ...known, ...internal }) as Fields);
}

/** Executors cut texts anywhere, also in the middle of an emoji. */
const unit = fc.oneof(
  { weight: 20, arbitrary: anyCharacter },
  { weight: 1, arbitrary: fc.constantFrom('\ud83d', '\ude00', '\0', '\\', '\\ud83d', '\\u0000') },
);
const text = (minLength: number, maxLength: number) =>
  fc
    .array(unit, { minLength, maxLength })
    .map((units) => units.join('').slice(0, maxLength))
    .filter((given) => given.length >= minLength && !given.includes(CANARY));
const asItLeaves = (given: string | undefined) => given?.toWellFormed().replaceAll('\0', '\ufffd');
const givenId = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/);
/** A path keeps it. */
const resolvableId = givenId.filter((id) => !/^\.{1,2}$/.test(id));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Without the keys whose value is undefined: JSON has none. */
const fromJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const outcome = withInternals(
  fc.record({ summary: text(0, 60), progress: optional(fc.double({ min: 0, max: 1, noNaN: true })) }),
);
const approvalRequest = withInternals(
  fc.record({ id: resolvableId, title: text(1, 40), description: optional(text(0, 40)) }),
);
const decisionItem = withInternals(fc.record({ id: givenId, label: text(1, 40), description: optional(text(0, 40)) }));

const checkpoint = fc.record({
  type: fc.constant('checkpoint'),
  checkpointId: givenId,
  canonical: fc.constant(true),
  material: fc.constant(true),
  outcome,
});
const actionRequired = fc
  .record({
    type: fc.constant('action_required'),
    actionVersion: fc.integer({ min: 1, max: 2 ** 40 }),
    outcome,
    approvalRequests: fc.uniqueArray(approvalRequest, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
    decisionItems: fc.array(decisionItem, { maxLength: 4 }),
    apiResolvable: fc.boolean(),
  })
  .map((report) => ({
    ...report,
    // What is said of another request than the primary one is internal as a whole.
    approvalRequests: report.approvalRequests.map((request, index) =>
      index === 0 ? { ...request, primary: true } : { ...request, title: CANARY, description: CANARY },
    ),
  }));
const done = fc.record({
  type: fc.constant('done'),
  result: internalValue,
  usage: internalValue,
  outcome: withInternals(fc.record({ summary: fc.constant(CANARY) })),
});
const report = fc.oneof(checkpoint, actionRequired, done, fc.constant({ type: 'canceled' }));

const STATUS = {
  checkpoint: 'running',
  action_required: 'requires_action',
  done: 'done',
  canceled: 'canceled',
  start: 'running',
} as const;
const actionUrl = createActionUrl('https://app.example.com/{taskId}/{actionVersion}');

function render(given: unknown): { body: string; parsed: TransitionReport } {
  const parsed = TransitionReport.parse(fromJson(given));
  const taskId = newTaskId(1_700_000_000_000);
  const { transitionId, event } = factOf(taskId, parsed);
  if (!event) throw new Error('every report here emits');
  const facts = { transitionId, event, createdAt: 1_700_000_000_000, sequence: 1, taskId };
  const rendered = () => renderWebhookBody({ ...facts, status: STATUS[parsed.type], report: parsed, actionUrl });
  // The same input is the same bytes.
  expect(rendered()).toBe(rendered());
  return { body: rendered(), parsed };
}

test('whatever the executor sends, a body holds the fields of its allow-list and nothing internal', () => {
  fc.assert(
    fc.property(report, (given) => {
      const { body } = render(given);
      expect(body).not.toContain(CANARY);
      const payload = JSON.parse(body) as { event: keyof typeof WEBHOOK_PAYLOADS };
      expect(WEBHOOK_PAYLOADS[payload.event].safeParse(payload)).toMatchObject({ success: true });
    }),
    RUNS,
  );
});

test('the public fields arrive as they were sent, with U+FFFD in place of what is no text', () => {
  fc.assert(
    fc.property(actionRequired, (given) => {
      const body = JSON.parse(render(given).body) as {
        outcome: { summary: string };
        approval_request: { title: string };
        decision_items: { label: string }[];
      };
      expect(body.outcome.summary).toBe(asItLeaves(given.outcome.summary));
      expect(body.approval_request.title).toBe(asItLeaves(given.approvalRequests[0]?.title));
      expect(body.decision_items.map(({ label }) => label)).toEqual(
        given.decisionItems.map(({ label }) => asItLeaves(label)),
      );
    }),
    RUNS,
  );
});

test('a body that is parsed and written again is the same bytes', () => {
  fc.assert(
    fc.property(report, (given) => {
      const { body } = render(given);
      expect(JSON.stringify(JSON.parse(body))).toBe(body);
    }),
    RUNS,
  );
});

test('a report that was read reads as itself', () => {
  fc.assert(
    fc.property(report, (given) => {
      const { parsed } = render(given);
      expect(TransitionReport.parse(fromJson(parsed))).toEqual(parsed);
    }),
    RUNS,
  );
});

test('ids have their form, whatever they are made of', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 47 }), givenId, (now, checkpointId) => {
      const taskId = newTaskId(now);
      const fact = {
        type: 'checkpoint',
        checkpointId,
        canonical: true,
        material: true,
        outcome: { summary: '' },
      } as const;
      expect(TaskIdText.safeParse(taskId).success).toBe(true);
      expect(TransitionIdText.safeParse(factOf(taskId, fact).transitionId).success).toBe(true);
    }),
    RUNS,
  );
});

/** Strict parsers of other languages. Each reads a body a line, fails at the first that it can't use, and counts them. */
const PARSERS = [
  {
    language: 'Python',
    command: 'python3',
    // It takes half a surrogate pair, which then can't be encoded.
    program:
      "import sys, json\nn = 0\nfor l in sys.stdin.buffer:\n t = json.dumps(json.loads(l), ensure_ascii=False)\n t.encode('utf-8')\n assert '\\\\u0000' not in t.replace('\\\\\\\\', '')\n n += 1\nprint(n)",
    flags: ['-c'],
  },
  {
    language: 'Perl',
    command: 'perl',
    program: 'my $n = 0; while (<STDIN>) { JSON::PP->new->utf8->decode($_); $n++ } print "$n\n"',
    flags: ['-MJSON::PP', '-e'],
  },
  { language: 'jq', command: 'jq', program: '[inputs] | length', flags: ['-n'] },
  {
    language: 'PHP',
    command: 'php',
    program:
      '$n = 0; while (($l = fgets(STDIN)) !== false) { json_decode($l, true, 512, JSON_THROW_ON_ERROR); $n++; } echo $n;',
    flags: ['-r'],
  },
  {
    language: 'Ruby',
    command: 'ruby',
    program: 'n = 0; STDIN.each_line { |l| JSON.parse(l); n += 1 }; puts n',
    flags: ['-rjson', '-e'],
  },
].filter(({ command }) => spawnSync(command, ['--version']).error === undefined);

test('strict parsers are there to ask', () => {
  expect(PARSERS.length).toBeGreaterThanOrEqual(2);
});

test.each(PARSERS)('$language parses every body that leaves', ({ command, flags, program }) => {
  const bodies = fc.sample(report, { numRuns: 500, seed: 40 }).map((given) => render(given).body);
  const input = bodies.map((body) => `${body}\n`).join('');
  const { stdout, stderr } = spawnSync(command, [...flags, program], { input, encoding: 'utf8' });
  expect({ parsed: stdout.trim(), stderr }).toEqual({ parsed: String(bodies.length), stderr: '' });
});
