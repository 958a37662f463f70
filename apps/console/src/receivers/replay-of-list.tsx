import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import type { Schemas } from '../api/client.ts';
import type { Filter } from '../deliveries/filter.ts';
import { ReplayDialog } from './replay-dialog.tsx';
import { ReplayProgress } from './replay-progress.tsx';

type ReplayOfListProps = {
  /** Those of the list. */
  readonly receivers: readonly Schemas['Receiver'][];
  /** `open` asks for a replay of what matches a filter. */
  readonly children: (open: (filter: Filter) => void) => ComponentChildren;
};

/** Replays of a list of deliveries: their dialog, and how far each is, which lives in the address. */
export function ReplayOfList({ receivers, children }: ReplayOfListProps) {
  const [query, setQuery] = useSearchParams();
  const [filter, setFilter] = useState<Filter>();
  const mayWrite = useMayWrite();
  const ids = (query.get('replay') ?? '').split('.').filter((id) => id !== '');
  const show = (shown: readonly string[]) => {
    setQuery(
      (former) => {
        const next = new URLSearchParams(former);
        if (shown.length === 0) next.delete('replay');
        else next.set('replay', shown.join('.'));
        return next;
      },
      { replace: true },
    );
  };
  return (
    <>
      {ids.map((id) => (
        <ReplayProgress
          key={id}
          id={id}
          receivers={receivers}
          mayStop={mayWrite}
          onHide={() => {
            show(ids.filter((each) => each !== id));
          }}
        />
      ))}
      {children(setFilter)}
      {filter && (
        <ReplayDialog
          receivers={receivers}
          filter={filter}
          onClose={() => {
            setFilter(undefined);
          }}
          onStarted={show}
        />
      )}
    </>
  );
}
