import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { cutUrl, markInvisible } from '../text/foreign-text.ts';
import { codeWords } from '../texts/code-words.ts';
import { texts } from '../texts/texts.ts';

type ForeignTextProps = {
  readonly text: string;
  /** It has several lines, as a body has. */
  readonly lines?: boolean;
};

/**
 * Text that came from outside, and the only way to show such. It is isolated, so that it reorders nothing around it, and
 * what can't be seen is written out.
 */
export function ForeignText({ text, lines = false }: ForeignTextProps) {
  return (
    <bdi dir="auto" class={lines ? 'foreign foreign-lines' : 'foreign'}>
      {markInvisible(text, lines).map((piece) =>
        piece.isMark ? (
          <span class="mark" title={texts.invisible}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  );
}

/** A page beside the console, which the browser has to load. */
const BOARD = '/admin/queues';

/** A sentence of Herald itself: what stands in backticks is code, and `[words](/page)` a link to a page. */
export function Sentence({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(`[^`]*`|\[[^\]]+\]\(\/[^)]+\))/).map((part) => {
        const [, words, page] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
        if (page === BOARD) return <a href={BOARD}>{words}</a>;
        if (page !== undefined) return <Link href={page}>{words}</Link>;
        return part.startsWith('`') ? <code>{part.slice(1, -1)}</code> : part;
      })}
    </>
  );
}

/** A code of an attempt or a delivery in words. A newer service may have one without: it stands for itself. */
export function wordsOf(code: string): string {
  return (codeWords as Readonly<Record<string, string>>)[code] ?? code;
}

/** A code in words, with itself in small. */
export function Code({ code }: { readonly code: string }) {
  return (
    <>
      {wordsOf(code)} <small class="code">{code}</small>
    </>
  );
}

/** A url of a customer: its host stands out. It is no link, since whoever wrote it chose where it leads. */
export function Url({ url }: { readonly url: string }) {
  const { host, path } = cutUrl(url);
  return (
    <span class="url" title={url.length > 300 ? undefined : url}>
      <span class="url-host">
        <ForeignText text={host} />
      </span>
      <span class="url-path">
        <ForeignText text={path} />
      </span>
    </span>
  );
}

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
