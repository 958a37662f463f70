import { createTokenShare } from './token.ts';

/** A browser whose tabs hear each other. */
function startTabs() {
  const tabs: ((event: MessageEvent) => void)[] = [];
  return (token?: string, quietMs = 0) => {
    let kept = token;
    let heard: (event: MessageEvent) => void = () => undefined;
    const channel = {
      addEventListener: (_name: string, tell: unknown) => {
        heard = tell as typeof heard;
        tabs.push(heard);
      },
      postMessage: (data: unknown) => {
        for (const tell of tabs) if (tell !== heard) tell({ data } as MessageEvent);
      },
    };
    const keeper = { get: () => kept, set: (value: string | undefined) => void (kept = value) };
    const share = createTokenShare({ keeper, channel, quietMs: () => quietMs });
    return { share, keeper };
  };
}

test('a new tab gets the token of the tab that was used last, and none where no tab has any', async () => {
  const open = startTabs();
  open('hrlp_old', 60_000);
  open('hrlp_used', 10);
  open();
  expect(await open().share.ask()).toBe('hrlp_used');
  expect(await startTabs()().share.ask()).toBeUndefined();
  const alone = createTokenShare({
    keeper: { get: () => undefined, set: () => undefined },
    channel: undefined,
    quietMs: () => 0,
  });
  expect(await alone.ask()).toBeUndefined();
});

test('a tab hears what another brings, and of its own token that another has given up, until it stops listening', () => {
  const open = startTabs();
  const [first, second] = [open('hrlp_a'), open('hrlp_a')];
  const heard: unknown[] = [];
  const stop = second.share.listen((token) => heard.push(token));
  first.share.offer('hrlp_b');
  first.share.forget('hrlp_other');
  first.share.forget('hrlp_a');
  expect(heard).toEqual(['hrlp_b', undefined]);
  stop();
  first.share.offer('hrlp_c');
  expect(heard).toHaveLength(2);
});
