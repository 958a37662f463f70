/** How long the link works, in seconds: a day, the longest there is. */
const LIFE_S = 86_400;

/** A link that opens the console signed in, on this machine. */
export async function createConsoleLink(apiUrl: string, apiKey: string): Promise<ConsoleLink> {
  const response = await fetch(`${apiUrl}/api/public/portal-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ expiresInSeconds: LIFE_S }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST /api/public/portal-links answered ${response.status}: ${text}`);
  const { token } = JSON.parse(text) as { token: string };
  return { to: (path = '') => `${apiUrl}/console${path}#token=${token}` };
}

export type ConsoleLink = {
  /** The url of a page of the console, such as `/deliveries/dlv_…`; without a path, of the console itself. */
  readonly to: (path?: string) => string;
};
