import { createSigningKey, newSigningSecret, signatureHeaders } from '@herald/core';
import type { ReceivedRequest } from '@herald/test-kit';

export type Sendable = Pick<ReceivedRequest, 'headers' | 'rawBody'>;

/** What somebody might make of a genuine request who doesn't know the secret, by what he did to it. */
export function forgeries({ headers, rawBody }: Sendable): [what: string, forged: Sendable][] {
  const withHeader = (name: string, change: (value: string) => string | undefined): Sendable => {
    const { [name]: value = '', ...rest } = headers;
    const changed = change(value);
    return { rawBody, headers: { ...rest, ...(changed !== undefined && { [name]: changed }) } };
  };
  const [id, event] = [headers['x-service-delivery'] ?? '', 'task.done'] as const;
  const key = createSigningKey(newSigningSecret());
  const signedByAnother = signatureHeaders({ id, event, body: rawBody, now: Date.now() }, { current: key });
  const headerForgeries = ['x-service-signature', 'webhook-signature'].flatMap((name): [string, Sendable][] => [
    [`${name} missing`, withHeader(name, () => undefined)],
    [`${name} empty`, withHeader(name, () => '')],
    // In an overlap webhook-signature holds two: cut short, both must go.
    [`${name} shorter`, withHeader(name, (value) => value.replace(/.(?= |$)/g, ''))],
    [`${name} longer`, withHeader(name, (value) => value.replace(/(?= |$)/g, '0'))],
  ]);
  return [
    ...headerForgeries,
    ['body changed', { headers, rawBody: Buffer.from(rawBody.toString().replace('task_', 'task-')) }],
    ['body longer', { headers, rawBody: Buffer.concat([rawBody, Buffer.from(' ')]) }],
    ['body empty', { headers, rawBody: Buffer.alloc(0) }],
    ['signed with another secret', { headers: { ...headers, ...signedByAnother }, rawBody }],
    ['another delivery id', { headers: { ...headers, 'webhook-id': 'dlv_x', 'x-service-delivery': 'dlv_x' }, rawBody }],
    ['another plain delivery id', withHeader('x-service-delivery', () => 'dlv_x')],
    ['later', withHeader('webhook-timestamp', (value) => String(Number(value) + 1))],
    ['no time', withHeader('webhook-timestamp', () => 'now')],
  ];
}

/** The request as Herald made it six minutes ago, in the middle of a rotation. */
export function replayOf({ headers, rawBody }: Sendable, [current, previous]: readonly [string, string]): Sendable {
  const keys = { current: createSigningKey(current), previous: createSigningKey(previous) };
  const sent = { id: headers['x-service-delivery'] ?? '', event: 'task.done', body: rawBody } as const;
  return { headers: { ...headers, ...signatureHeaders({ ...sent, now: Date.now() - 360_000 }, keys) }, rawBody };
}
