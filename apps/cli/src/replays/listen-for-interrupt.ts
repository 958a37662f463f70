/** The first Ctrl-C aborts the signal instead of the process; a second one ends it, as one after `release` does. */
export function listenForInterrupt(): { readonly signal: AbortSignal; readonly release: () => void } {
  const interrupted = new AbortController();
  const onInterrupt = () => {
    interrupted.abort();
  };
  process.once('SIGINT', onInterrupt);
  return { signal: interrupted.signal, release: () => void process.off('SIGINT', onInterrupt) };
}
