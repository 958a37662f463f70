import { runPlan } from './run-plan.ts';
import type { Action } from './plan.ts';

const ignore = () => undefined;
const hangs = (index: number, atMs: number): Action => ({ kind: 'receiver', index, mood: 'hang', atMs, forMs: 20 });

test('every action begins and ends, and what concerns one target does so in order', async () => {
  const steps: string[] = [];
  const tell = (step: string) => Promise.resolve(void steps.push(step));
  const perform = {
    begin: ({ atMs }: Action) => tell(`begin ${atMs}`),
    end: ({ atMs }: Action) => tell(`end ${atMs}`),
  };
  expect(await runPlan([hangs(0, 0), hangs(0, 30)], 0.05, perform, ignore)).toEqual([]);
  expect(steps).toEqual(['begin 0', 'end 0', 'begin 30', 'end 30']);
});

test('what could not be ended is told, after all others have ended', async () => {
  const ended: number[] = [];
  const perform = {
    begin: () => Promise.resolve(),
    end: async (action: Action) => {
      if (action.kind === 'receiver' && action.index === 0) throw new Error('it never came back');
      await new Promise((resolve) => setTimeout(resolve, 20));
      ended.push(action.atMs);
    },
  };
  const unended = await runPlan([hangs(0, 0), hangs(1, 10)], 0.05, perform, ignore);
  expect(unended).toEqual(['the plan was not carried out: it never came back']);
  expect(ended).toEqual([10]);
});
