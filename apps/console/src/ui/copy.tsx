import { texts } from '../texts/texts.ts';
import { announce } from './dialog.tsx';

type CopyProps = {
  readonly text: string;
  /** What is copied, for the name of the button: "the id". */
  readonly what: string;
  readonly label?: string;
  readonly onCopied?: () => void;
};

/** Copies a text. Where a frame may not, the text is selectable anyway. */
export function Copy({ text, what, label, onCopied }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce(texts.copied(what));
      onCopied?.();
    } catch {
      announce(texts.notCopied);
    }
  };
  return (
    <button
      type="button"
      class={label === undefined ? 'icon-button' : 'button'}
      onClick={() => void copy()}
      aria-label={label === undefined ? texts.copy(what) : undefined}
      title={texts.copy(what)}
    >
      {label ?? <CopyIcon />}
    </button>
  );
}

function CopyIcon() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="14"
      height="14"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="1.3"
    >
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M3.5 10.5h-1v-8h8v1" />
    </svg>
  );
}

/** An id in full, to copy. */
export function Id({ id }: { readonly id: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <Copy text={id} what={texts.theId} />
    </span>
  );
}
