import { patient, waitFor } from '@herald/test-kit';
import type { Browser, ElementHandle, Page } from 'puppeteer-core';

const DEADLINE_MS = 15_000;
/** More than any page of the console has stops. */
const STOPS = 150;

/** How somebody uses a page. */
export type Way = 'pointer' | 'keyboard';

type Named = { readonly role: string; readonly name: string };

export interface ConsoleUser extends AsyncDisposable {
  readonly page: Page;
  /** What the page reported as errors, and the origins that it asked for anything. */
  readonly errors: string[];
  readonly requested: ReadonlySet<string>;
  /** Goes to an address of the console. */
  open(url: string): Promise<void>;
  /** Goes to a path of the console that is open, as its links do: without loading it again. */
  go(path: string): Promise<void>;
  /** Presses a button or follows a link. A `summary` is a DisclosureTriangle. */
  press(role: 'button' | 'link' | 'checkbox' | 'radio' | 'DisclosureTriangle', name: string): Promise<void>;
  /** Replaces what is in a field. */
  type(name: string, text: string, role?: string): Promise<void>;
  choose(name: string, value: string): Promise<void>;
  /** Waits until the page shows the texts. Returns all that it shows. */
  sees(...texts: readonly string[]): Promise<string>;
  seesNot(text: string): Promise<void>;
}

/** Somebody with a window of his own, who uses a pointer, or only the keyboard. */
export async function startConsoleUser(browser: Browser, way: Way = 'pointer'): Promise<ConsoleUser> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(patient(DEADLINE_MS));
  const errors: string[] = [];
  const requested = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.add(new URL(request.url()).origin);
  });

  const find = async ({ role, name }: Named): Promise<ElementHandle> => {
    const found = await page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`);
    if (!found) throw new Error(`there is no ${role} ${name}`);
    return found;
  };
  const isFocused = async (element: ElementHandle) =>
    (await page.evaluateHandle('document.activeElement')).evaluate((focused, each) => focused === each, element);
  const isThere = (element: ElementHandle) =>
    element.evaluate((each) => (each as { isConnected: boolean }).isConnected);
  /** Goes from stop to stop, as a keyboard does, until the element has the focus. */
  const tabTo = async (named: Named) => {
    // To find an element by its name is slow, so the one that was found counts until the page has drawn it anew.
    let element = await find(named);
    for (let stop = 0; stop < STOPS; stop++) {
      if (!(await isThere(element))) element = await find(named);
      if ((await isFocused(element)) && (await isFocused(await find(named)))) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the keyboard doesn't reach the ${named.role} ${named.name}`);
  };
  /** All that the page shows: nothing while it goes to another one. */
  const text = async () => {
    const shown = await page.evaluate('document.body.innerText').catch((error: unknown) => {
      if (String(error).includes('because of a navigation')) return '';
      throw error;
    });
    return String(shown);
  };
  return {
    page,
    errors,
    requested,
    async open(url) {
      await page.goto(url);
    },
    async go(path) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
      // The page before is gone with the next frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    },
    async press(role, name) {
      if (way === 'pointer') {
        await page.locator(`::-p-aria([name="${name}"][role="${role}"])`).click();
        return;
      }
      await tabTo({ role, name });
      await page.keyboard.press(role === 'checkbox' || role === 'radio' ? 'Space' : 'Enter');
    },
    async type(name, typed, role = 'textbox') {
      if (way === 'keyboard') await tabTo({ role, name });
      else await (await find({ role, name })).click();
      await page.keyboard.down('Control');
      await page.keyboard.press('a');
      await page.keyboard.up('Control');
      await page.keyboard.press('Backspace');
      await page.keyboard.sendCharacter(typed);
    },
    async choose(name, value) {
      const field = await find({ role: 'combobox', name });
      if (way === 'pointer') {
        await field.select(value);
        return;
      }
      await tabTo({ role: 'combobox', name });
      // Typing finds an option by the beginning of its title, and changes it at once.
      const option = await field.$(`option[value="${value}"]`);
      const title = await page.evaluate((each: unknown) => (each as { readonly text: string }).text, option);
      await page.keyboard.type(title);
    },
    async sees(...texts) {
      return await waitFor(`the page to show ${texts.join(', ')}`, text, {
        until: (shown) => texts.every((each) => shown.includes(each)),
        deadlineMs: DEADLINE_MS,
      });
    },
    async seesNot(unwanted) {
      await waitFor(`the page not to show ${unwanted}`, text, {
        until: (shown) => !shown.includes(unwanted),
        deadlineMs: DEADLINE_MS,
      });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
