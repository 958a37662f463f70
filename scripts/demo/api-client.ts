export type Call = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<Record<string, unknown>>;

/** Calls the API with one key. An answer other than 2xx is an error with the text of the problem. */
export function createCall(apiUrl: string, key: string, aborted?: AbortSignal): Call {
  return async (method, path, body) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([AbortSignal.timeout(30_000), ...(aborted ? [aborted] : [])]),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}
