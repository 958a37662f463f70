import { ableSince, createWellBeing } from './fleet.ts';

const wellFrom = (since: number) => {
  const wellBeing = createWellBeing(() => since);
  wellBeing.recover(0);
  return wellBeing;
};
const ill = createWellBeing();

test('somebody is able since all that he needs is well, and somebody since the first of them', () => {
  expect(ableSince([[wellFrom(5), wellFrom(3)]], 10)).toBe(5);
  expect(
    ableSince(
      [
        [wellFrom(5), wellFrom(3)],
        [wellFrom(4), wellFrom(3)],
      ],
      10,
    ),
  ).toBe(4);
});

test('nobody is able who is ill, or still comes to himself', () => {
  const back = createWellBeing(() => 9);
  back.recover(2);
  expect(ableSince([[wellFrom(5), ill], [back]], 10)).toBeUndefined();
  expect(ableSince([[wellFrom(5), ill], [back]], 11)).toBe(11);
  back.fail();
  expect(ableSince([[back]], 100)).toBeUndefined();
});
