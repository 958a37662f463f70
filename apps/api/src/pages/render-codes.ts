import type { CodeEntry } from '@herald/core';
import { toHtml } from './html.ts';

type ListedCode = CodeEntry & { readonly code: string; readonly status?: number };

/** A list of codes as HTML. An entry's anchor is the name of the list and the code, such as `attempts-dns_failed`. */
export function renderCodes(list: string, codes: readonly ListedCode[]): string {
  const entries = codes.map(
    ({ code, status, meaning, action }) => `<div id="${list}-${code}">
<dt><code>${code}</code>${status === undefined ? '' : `<span>${status}</span>`}</dt>
<dd>${toHtml(meaning)}</dd>
<dd class="action">${toHtml(action)}</dd>
</div>`,
  );
  return `<dl>\n${entries.join('\n')}\n</dl>`;
}
