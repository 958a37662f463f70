import { hmac, toBase64, toBytes, toHex } from './hmac.ts';
import { bodiesOf, keysOf, type BodyKind, type KeyKind } from './variants.ts';

/** With which key over which body a signature was made. */
export type Match = { readonly key: KeyKind; readonly body: BodyKind; readonly isHex: boolean };

type Search = {
  /** Without `sha256=` or `v1,`. */
  readonly signature: string;
  readonly secrets: readonly string[];
  readonly body: string;
  /** What is signed before the body: `id.timestamp.` in Standard Webhooks. */
  readonly before?: string;
};

/** Finds with what a signature was made, among what people get wrong; undefined when it is none of that. */
export async function findMatch({ signature, secrets, body, before = '' }: Search): Promise<Match | undefined> {
  const head = toBytes(before);
  for (const secret of secrets) {
    for (const key of keysOf(secret)) {
      for (const variant of bodiesOf(body)) {
        const made = await hmac(key.bytes, new Uint8Array([...head, ...variant.bytes]));
        if (made.length === 0) continue;
        const isHex = toHex(made) === signature.toLowerCase();
        if (isHex || toBase64(made) === signature) return { key: key.kind, body: variant.kind, isHex };
      }
    }
  }
  return undefined;
}
