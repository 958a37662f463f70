import { Sentence } from '../ui/words.tsx';
import type { CauseOfFailure } from './receiver-state.ts';

/** Why the last attempt failed, in a sentence, with the status or the code in small. `withAction`: and what to do. */
export function Cause({
  cause,
  withAction = false,
}: {
  readonly cause: CauseOfFailure;
  readonly withAction?: boolean;
}) {
  return (
    <>
      <Sentence text={cause.meaning} />{' '}
      {withAction && (
        <>
          <strong>
            <Sentence text={cause.action} />
          </strong>{' '}
        </>
      )}
      <small class="code">{cause.code}</small>
    </>
  );
}
