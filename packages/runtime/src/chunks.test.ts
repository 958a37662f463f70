import { chunksOf, mapInChunks } from './chunks.ts';

test.each([
  { length: 0, chunks: [] },
  { length: 2, chunks: [[0, 1]] },
  {
    length: 5,
    chunks: [[0, 1], [2, 3], [4]],
  },
])('a list of $length is cut into chunks of 2', ({ length, chunks }) => {
  expect(chunksOf([...Array(length).keys()], 2)).toEqual(chunks);
});

test('results come in the order of the list, and one that fails ends the rest', async () => {
  const used: number[] = [];
  const use = async (item: number) => {
    used.push(item);
    await Promise.resolve();
    if (item === 3) throw new Error('no');
    return item * 10;
  };
  expect(await mapInChunks([0, 1, 2], 2, use)).toEqual([0, 10, 20]);
  await expect(mapInChunks([3, 4, 5], 2, use)).rejects.toThrow('no');
  expect(used).toEqual([0, 1, 2, 3, 4]);
});
