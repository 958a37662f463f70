import { Outcome } from '../tasks/task.ts';
import { projectAction, projectOutcome } from './projection.ts';
import { TransitionReport, type ActionRequiredReport } from './transition-report.ts';

const outcome = { summary: 'so far' };

function action(fields: object): ActionRequiredReport {
  const base = { type: 'action_required', actionVersion: 3, outcome };
  return TransitionReport.parse({
    ...base,
    approvalRequests: [{ id: 'a1', title: 'Pay?', primary: true }],
    ...fields,
  }) as ActionRequiredReport;
}

test.each<{ kept: Outcome; said: unknown }>([
  { said: { summary: 's' }, kept: { summary: 's' } },
  { said: { summary: '', progress: 0 }, kept: { summary: '', progress: 0 } },
  { said: { summary: 's', progress: 1, note: 'x', Summary: 'x' }, kept: { summary: 's', progress: 1 } },
])('of the outcome $said only $kept leaves', ({ said, kept }) => {
  expect(projectOutcome(Outcome.parse(said))).toStrictEqual(kept);
});

test('of an action only the primary request leaves, and of request and items only what is named safe', () => {
  const report = action({
    approvalRequests: [
      { id: 'a2', title: 'Other', description: 'x' },
      { id: 'a1', title: 'Pay?', description: '', primary: true, tool: 'bank' },
    ],
    decisionItems: [
      { id: 'yes', label: 'Yes', description: 'Pays', weight: 1 },
      { id: 'no', label: 'No' },
    ],
    apiResolvable: true,
  });
  expect(projectAction(report, 'https://app.example/x')).toStrictEqual({
    approval_request: { id: 'a1', title: 'Pay?', description: '' },
    action_version: 3,
    decision_items: [
      { id: 'yes', label: 'Yes', description: 'Pays' },
      { id: 'no', label: 'No' },
    ],
    api_resolvable: true,
    action_url: 'https://app.example/x',
  });
});

test('an action with its defaults shows an empty list and false, never nothing', () => {
  expect(projectAction(action({}), 'https://app.example/x')).toStrictEqual({
    approval_request: { id: 'a1', title: 'Pay?' },
    action_version: 3,
    decision_items: [],
    api_resolvable: false,
    action_url: 'https://app.example/x',
  });
});

test('an action without a primary request can’t be shown', () => {
  const report: ActionRequiredReport = { ...action({}), approvalRequests: [] };
  expect(() => projectAction(report, '')).toThrow('exactly one primary');
});
