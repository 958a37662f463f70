import { fromBase64, toBytes } from './hmac.ts';

/** What a key may have been made of. `shown` is the whole secret, `decoded` the bytes behind its prefix. */
export type KeyKind = 'shown' | 'decoded' | 'unprefixed' | 'padded';
/** What may have happened to a body on its way. */
export type BodyKind = 'pasted' | 'newline_added' | 'newline_removed' | 'trimmed' | 'crlf' | 'minified' | 'indented';

export type Variant<Kind> = { readonly kind: Kind; readonly bytes: Uint8Array<ArrayBuffer> };

const PREFIX = 'whsec_';

/** The keys that people make of a secret, the right ones among them. */
export function keysOf(secret: string): Variant<KeyKind>[] {
  const unprefixed = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const decoded = fromBase64(unprefixed);
  return [
    { kind: 'shown', bytes: toBytes(secret) },
    ...(decoded ? [{ kind: 'decoded' as const, bytes: decoded }] : []),
    { kind: 'unprefixed', bytes: toBytes(unprefixed) },
    { kind: 'padded', bytes: toBytes(`${secret}\n`) },
  ];
}

/** The bodies that people sign instead of the one that was sent, which comes first. */
export function bodiesOf(body: string): Variant<BodyKind>[] {
  const texts: [BodyKind, string | undefined][] = [
    ['pasted', body],
    ['newline_removed', body.replace(/\r?\n$/, '')],
    ['newline_added', `${body}\n`],
    ['trimmed', body.trim()],
    ['crlf', body.replaceAll(/\r?\n/g, '\r\n')],
    ['minified', reformat(body)],
    ['indented', reformat(body, 2)],
  ];
  const seen = new Set<string>();
  return texts.flatMap(([kind, text]) => {
    if (text === undefined || seen.has(text)) return [];
    seen.add(text);
    return [{ kind, bytes: toBytes(text) }];
  });
}

function reformat(body: string, indentation?: number): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body), null, indentation);
  } catch {
    return undefined;
  }
}
