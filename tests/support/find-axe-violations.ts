import axe from 'axe-core';
import type { Page } from 'puppeteer-core';

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly any: readonly { readonly message: string }[] }[];
};

/** What axe finds wrong with a page as it is now, or with the dialog that is open in it, each with the element. */
export async function findAxeViolations(page: Page): Promise<string[]> {
  // The page's own policy would refuse a script in it; this one comes from the debugger.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const violations = (await page.evaluate(
    'axe.run(document.querySelector("dialog") ?? document, { resultTypes: ["violations"] }).then((found) => found.violations)',
  )) as readonly Violation[];
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 200)} ${any[0]?.message ?? ''}`),
  );
}
