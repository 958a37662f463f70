import { FILTER_CHOICES, isHttp } from '../deliveries/list-state.ts';
import { cutUrl } from '../text/foreign-text.ts';
import { codeWords } from '../texts/code-words.ts';
import { texts } from '../texts/texts.ts';

/** The id of a transition: the `id` in the body of an event. It has no page of its own. */
export function isTransition(text: string): boolean {
  return /^trn_[a-z2-7]{32}$/.test(text.trim());
}

/** The page of the Task of these deliveries, or of the first where there is no Task. */
export function pageOfTransition(deliveries: readonly { id: string; taskId: string | null }[]): string | undefined {
  const [first] = deliveries;
  if (!first) return undefined;
  return first.taskId === null ? `/console/deliveries/${first.id}` : `/console/tasks/${first.taskId}`;
}

/** The page of an id, by its form; undefined when it has that of none. */
function findPage(id: string): string | undefined {
  if (!/^[a-z]+_[a-z0-9]+$/.test(id)) return undefined;
  if (id.startsWith('dlv_')) return `/console/deliveries/${id}`;
  if (id.startsWith('task_')) return `/console/tasks/${id}`;
  return id.startsWith('wh_') ? `/console/receivers/${id}` : undefined;
}

export type Found = { readonly page: string; readonly title: string; readonly kind: string };

/** More would not be read. */
const FOUND = 8;

type Receiver = { readonly id: string; readonly url: string; readonly description: string };

/** Where a text may lead: to the page of an id, to receivers by host or description, to deliveries by what they are. */
export function findPlaces(typed: string, receivers: readonly Receiver[]): readonly Found[] {
  const text = typed.trim().toLowerCase();
  if (text === '') return [];
  const page = findPage(typed.trim());
  if (page !== undefined) return [{ page, title: typed.trim(), kind: texts.foundId }];
  const has = (part: string) => part.toLowerCase().includes(text);
  const deliveries = (filter: string, value: string, title: string): Found => ({
    page: `/console/deliveries?${filter}=${encodeURIComponent(value)}`,
    title,
    kind: texts.foundDeliveries,
  });
  return [
    ...receivers
      .filter(({ url, description }) => has(url) || has(description))
      .map(({ id, url, description }) => {
        const { host, path } = cutUrl(url);
        const title = description === '' ? host + path : `${host}${path}, ${description}`;
        return { page: `/console/receivers/${id}`, title, kind: texts.foundReceiver };
      }),
    ...(isHttp(text) ? [deliveries('http', text, text)] : []),
    ...FILTER_CHOICES.statuses.filter(has).map((status) => deliveries('status', status, status)),
    ...FILTER_CHOICES.events.filter(has).map((event) => deliveries('event', event, event)),
    ...Object.entries(codeWords)
      .filter(([code, words]) => has(code) || has(words))
      .map(([code, words]) => deliveries('error', code, `${words}, ${code}`)),
  ].slice(0, FOUND);
}
