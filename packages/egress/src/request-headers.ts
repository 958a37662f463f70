import { VERSION } from '@herald/runtime/version';

/**
 * The headers that every request gets besides its own. Node adds only those of the connection. Without a url or a body,
 * those that follow from it are left out.
 * @param bodyBytes length of the body
 */
export function toRequestHeaders(url?: URL | null, bodyBytes?: number) {
  return {
    ...(url && { host: url.host }),
    accept: '*/*',
    'user-agent': `Herald/${VERSION}`,
    ...(bodyBytes !== undefined && { 'content-length': String(bodyBytes) }),
  };
}
