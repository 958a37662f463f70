import { BLOCKED_PORTS } from './blocked-ports.ts';

/** Whether Node's own fetch, which follows the Fetch standard, would open a connection to this port. */
async function isBlockedByFetch(port: number): Promise<boolean> {
  const dispatcher = {
    dispatch() {
      throw new Error('it would connect');
    },
  };
  const options = { dispatcher } as unknown as RequestInit;
  const failure: unknown = await fetch(`http://nowhere.test:${port}/`, options).catch((error: unknown) => error);
  return (failure as { cause?: Error }).cause?.message === 'bad port';
}

test('blocks exactly the ports that browsers block, and port 0', async () => {
  const blocked: number[] = [0];
  // The highest is 10,080; the rest was looked through once.
  for (let port = 1; port <= 10_100; port++) if (await isBlockedByFetch(port)) blocked.push(port);
  expect([...BLOCKED_PORTS]).toEqual(blocked);
});
