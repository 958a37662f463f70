import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'bad' | 'wait' | 'off';

/** The shapes tell the tones apart where colours don't. */
const SHAPES: Readonly<Record<Tone, string>> = { good: '●', bad: '▲', wait: '◔', off: '○' };

/** A state in a word, with a colour and a shape. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`badge badge-${tone}`}>
      <span class="badge-shape" aria-hidden="true">
        {SHAPES[tone]}
      </span>
      {children}
    </span>
  );
}
