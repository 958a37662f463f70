import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import type { Told } from '@herald/store/listening/listen-channel';
import type { Output } from './create-output.ts';

/** Says when the open streams of a key or a link that was revoked could not be told. */
export function sayUntold(output: Pick<Output, 'note'>, { untold }: Told): void {
  if (untold === undefined) return;
  const why = isErrorLike(untold) ? untold.message : 'for no known reason';
  output.note(
    `It is refused from now on, but Redis told no open stream of it (${why}): a "listen" that is open ends within ten seconds.`,
  );
}
