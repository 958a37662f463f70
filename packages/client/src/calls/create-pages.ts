import type { Paged } from '../api/operation.ts';

type Page = { readonly nextCursor: string | null };

/** A list that can be read page by page, or item by item: `readPage` gives the page at a cursor. */
export function createPages<P extends Page>(readPage: (cursor: string | undefined) => Promise<P>): Paged<P> {
  const first = readPage(undefined);
  async function* readItems() {
    let page = await first;
    for (;;) {
      yield* itemsOf(page);
      if (page.nextCursor === null) return;
      page = await readPage(page.nextCursor);
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: readItems }) as Paged<P>;
}

/** The one list on a page. */
function itemsOf(page: Page): readonly unknown[] {
  return Object.values(page).find((field) => Array.isArray(field)) ?? [];
}
