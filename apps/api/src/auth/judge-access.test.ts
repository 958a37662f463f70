import type { Logger } from '@herald/runtime/log';
import type { ApiKey } from '@herald/store/access/api-key-store';
import { createNoteKeyUse } from './judge-access.ts';

const NOW = 1_700_000_000_000;
const KEY: ApiKey = { id: 'key_1', scopes: ['tasks'], createdAt: 0 };

function start(writeLastUse: (id: string, at: number) => Promise<void>) {
  const warned: string[] = [];
  const logger = { warn: (event: string) => warned.push(event) } as unknown as Logger;
  return { warned, noteKeyUse: createNoteKeyUse({ writeLastUse, logger, now: () => NOW }) };
}

test('the first use is written, and a use within the minute is not', () => {
  const written: [string, number][] = [];
  const { noteKeyUse } = start((id, at) => Promise.resolve(void written.push([id, at])));
  noteKeyUse({ ...KEY, lastUsedAt: NOW - 59_999 });
  expect(written).toEqual([]);
  noteKeyUse({ ...KEY, lastUsedAt: NOW - 60_000 });
  noteKeyUse({ ...KEY, id: 'key_2' });
  expect(written).toEqual([
    ['key_1', NOW],
    ['key_2', NOW],
  ]);
});

test('a burst of requests writes once, however long the write takes', () => {
  let writes = 0;
  const { noteKeyUse } = start(() => {
    writes++;
    return new Promise(() => undefined);
  });
  for (let request = 0; request < 50; request++) noteKeyUse(KEY);
  expect(writes).toBe(1);
});

test('a write that fails is logged, and tried again with the next request', async () => {
  let writes = 0;
  const { noteKeyUse, warned } = start(() => {
    writes++;
    return Promise.reject(new Error('away'));
  });
  noteKeyUse(KEY);
  await new Promise(setImmediate);
  noteKeyUse(KEY);
  await new Promise(setImmediate);
  expect({ writes, warned }).toEqual({
    writes: 2,
    warned: ['key.last_use_not_written', 'key.last_use_not_written'],
  });
});
