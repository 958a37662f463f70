import { Link } from 'wouter-preact';

/** A sentence of Herald itself: what stands in backticks is code, and `[words](/page)` a link to a page of the console. */
export function Sentence({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(`[^`]*`|\[[^\]]+\]\(\/[^)]+\))/).map((part) => {
        const [, words, page] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
        if (page !== undefined) return <Link href={page}>{words}</Link>;
        return part.startsWith('`') ? <code>{part.slice(1, -1)}</code> : part;
      })}
    </>
  );
}
