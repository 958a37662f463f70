/** How long the link works, in seconds: a day, the longest there is. */
const LIFE_S = 86_400;
const PATH = '/api/public/portal-links';

/**
 * A link that opens the console signed in, on this machine. Who starts the service a hundred times a day has used up the
 * links of the workspace: then the oldest one ends.
 */
export async function createConsoleLink(apiUrl: string, apiKey: string): Promise<ConsoleLink> {
  const ask = (method: string, path: string, body?: object) =>
    fetch(apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(10_000),
    });
  const create = () => ask('POST', PATH, { expiresInSeconds: LIFE_S });
  let response = await create();
  if (response.status === 409) {
    const { portalLinks } = (await (await ask('GET', PATH)).json()) as { portalLinks: ListedLink[] };
    const oldest = portalLinks.findLast(({ createdBy }) => createdBy !== 'operator');
    await ask('DELETE', `${PATH}/${oldest?.id ?? ''}`);
    response = await create();
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${PATH} answered ${response.status}: ${text}`);
  const { token } = JSON.parse(text) as { token: string };
  return { to: (path = '') => `${apiUrl}/console${path}#token=${token}` };
}

type ListedLink = { readonly id: string; readonly createdBy: string };

export type ConsoleLink = {
  /** The url of a page of the console, such as `/deliveries/dlv_…`; without a path, of the console itself. */
  readonly to: (path?: string) => string;
};
