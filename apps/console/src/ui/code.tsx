import { codeWords } from '../texts/code-words.ts';

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
