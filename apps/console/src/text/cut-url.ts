/** Host and path of a url as it is written; everything is host when it is none. */
export function cutUrl(url: string): { readonly host: string; readonly path: string } {
  const [, host = url, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  return { host, path };
}
