import { texts } from '../texts/texts.ts';
import { Copy } from './copy.tsx';

/** An id in full, to copy. */
export function Id({ id }: { readonly id: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <Copy text={id} what={texts.theId} />
    </span>
  );
}
