import { judgeLoss } from './data-loss.ts';

test.each([
  ['the same id', { record: { count: 1 }, dataId: 'a' }, undefined],
  ['no id, as an earlier release left it', { record: { count: 1 } }, undefined],
  ['the same id, during resharding', { record: { count: 1, movingTo: 4 }, dataId: 'a' }, undefined],
  ['resharding without a number from before', { record: { movingTo: 4 }, dataId: 'a' }, undefined],
])('data with %s is that which was opened', (_name, known, loss) => {
  expect(judgeLoss(known, 'a')).toBe(loss);
});

test.each([
  ['no record', { record: {} }, 'is gone from Redis'],
  ['an id alone', { record: {}, dataId: 'a' }, 'is gone from Redis'],
  ['another id', { record: { count: 1 }, dataId: 'b' }, 'holds other data'],
])('data with %s is lost', (_name, known, words) => {
  expect(judgeLoss(known, 'a')).toMatchObject({
    level: 'error',
    code: 'data_lost',
    sentence: expect.stringContaining(words) as string,
  });
});
