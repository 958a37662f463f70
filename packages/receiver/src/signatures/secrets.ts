/** A signing secret as Herald showed it (`whsec_…`), or several during a rotation. */
export type Secrets = string | readonly string[];

const PREFIX = 'whsec_';
const SHOWN = /^whsec_[A-Za-z0-9+/]{22,}={0,2}$/;

/** The usable secrets. An empty one is not: anyone could sign with it. */
export function usableSecrets(secrets: unknown): string[] {
  const list: unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  return list.filter((secret): secret is string => typeof secret === 'string' && secret.length > 0);
}

/** The key of the Standard Webhooks scheme: the bytes after the prefix. Empty when there are none. */
export function standardKeyOf(secret: string): Buffer {
  return Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
}

/**
 * @throws TypeError that says what to change, when a secret has another form. Its message shows no part of a secret.
 */
export function checkSecrets(secrets: Secrets): readonly string[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  for (const [index, secret] of list.entries()) {
    if (typeof secret === 'string' && SHOWN.test(secret)) continue;
    const what = typeof secret === 'string' ? (secret === '' ? 'empty' : 'not as Herald showed it') : 'not a string';
    throw new TypeError(
      `secrets[${index}] is ${what}: give every secret whole, "whsec_" included, without spaces or line ends; several of them as an array`,
    );
  }
  return list as readonly string[];
}
