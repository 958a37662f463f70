import { createApiKeyStore, type NewApiKey, type Scope } from '@herald/store/access/api-key-store';
import { patient, waitFor } from '@herald/test-kit';
import { newApiKey } from '../../../packages/store/src/access/api-key-store.ts';
import { bodyOf, type RequestOptions } from '../../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import type { Herald } from '../../support/start-herald.ts';
import type { HeraldProcess } from '../../support/start-herald-process.ts';
import type { CalledOperation } from './operations.ts';
import type { Inhabited } from './scene.ts';

/** Somebody who asks for the things of the victim's workspace, and what he may do. */
export interface Caller {
  name: string;
  headers: Readonly<Record<string, string>>;
  /** The process that he asks. */
  via: HeraldProcess;
  scopes: readonly Scope[];
  workspace: 'own' | 'other' | 'none';
  link?: 'read' | 'change';
  /** He has signed in. */
  isOperator?: boolean;
  /** An operator made the link. */
  isOfOperator?: boolean;
}

/** Whether the table lets a caller do what an operation does. */
export function mayUse(
  { scopes, workspace, link, isOperator = false, isOfOperator = false }: Omit<Caller, 'name' | 'headers' | 'via'>,
  { scope, call }: Pick<CalledOperation, 'scope' | 'call'>,
): boolean {
  if (call.isOpen) return true;
  if (call.isOperators) return isOperator;
  if (call.isOperatorLinks) return isOfOperator && link === 'change';
  if (workspace === 'other' && call.params.length > 0) return false;
  if (link) return call.portalLinks === 'read' || (call.portalLinks !== undefined && link === 'change');
  if (scope === 'any') return workspace !== 'none';
  return scope !== undefined && scopes.includes(scope);
}

const ENDED = { scopes: [], workspace: 'none' } as const;
const OF_TENANTS: readonly Scope[] = ['webhooks', 'tasks'];

/** One of every kind. `writable` is a process whose operators may change something. */
export async function createCallers(
  herald: Herald,
  [victim, intruder]: readonly [Inhabited, Inhabited],
  [via, writable]: readonly [HeraldProcess, HeraldProcess],
): Promise<Caller[]> {
  const keys = createApiKeyStore({ redis: herald.redis, now: Date.now });
  const keyOf = async (request: NewApiKey) => (await keys.create(request)).key;
  const ofVictim = { workspaceId: victim.workspace.id };
  const linkOf = async (key: string, readOnly: boolean) => {
    const options = { key, body: { readOnly } };
    return (bodyOf(await herald.request('POST', '/api/public/portal-links', options), 201) as { token: string }).token;
  };
  const asOperator = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
  /** Operators' own pages send this with every request. */
  const operator = { ...asOperator, 'sec-fetch-site': 'same-origin' };
  const linkOfOperator = async (by: HeraldProcess) => {
    const options = { headers: operator, body: { readOnly: false }, via: by };
    const path = `/api/operator/workspaces/${victim.workspace.id}/portal-links`;
    return (bodyOf(await herald.request('POST', path, options), 201) as { token: string }).token;
  };
  const living = await keys.create({ ...ofVictim, scopes: OF_TENANTS });
  const dead = await createDead(herald, victim, linkOf);
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, via });
  const ownLink = { scopes: [], workspace: 'own', link: 'read' } as const;
  return [
    { name: 'nobody', headers: {}, via, ...ENDED },
    { name: 'an empty header', headers: { authorization: '' }, via, ...ENDED },
    { name: 'an unknown key', ...bearer(newApiKey(`key_${'0'.repeat(16)}`)), ...ENDED },
    { name: 'a key with the id of another', ...bearer(newApiKey(living.record.id)), ...ENDED },
    ...dead.map(([name, token]) => ({ name, ...bearer(token), ...ENDED })),
    { name: 'a key', ...bearer(victim.workspace.key), scopes: OF_TENANTS, workspace: 'own' },
    ...(await Promise.all(
      OF_TENANTS.map(async (scope): Promise<Caller> => {
        const key = await keyOf({ ...ofVictim, scopes: [scope] });
        return { name: `a key for ${scope}`, ...bearer(key), scopes: [scope], workspace: 'own' };
      }),
    )),
    { name: 'an executor', ...bearer(herald.executor.key), scopes: ['execute'], workspace: 'none' },
    { name: 'a platform', ...bearer(await keyOf({ scopes: ['platform'] })), scopes: ['platform'], workspace: 'none' },
    { name: 'a key for nothing', ...bearer(await keyOf({ ...ofVictim, scopes: [] })), scopes: [], workspace: 'own' },
    { name: 'a read-only link', ...bearer(await linkOf(victim.workspace.key, true)), ...ownLink },
    { name: 'a writing link', ...bearer(await linkOf(victim.workspace.key, false)), ...ownLink, link: 'change' },
    { name: 'another workspace', ...bearer(intruder.workspace.key), scopes: OF_TENANTS, workspace: 'other' },
    {
      name: 'a link of another workspace',
      ...bearer(await linkOf(intruder.workspace.key, false)),
      ...{ scopes: [], workspace: 'other', link: 'change' },
    },
    { name: 'an operator who reads', headers: operator, via, ...ENDED, isOperator: true },
    { name: 'an operator who writes', headers: operator, via: writable, ...ENDED, isOperator: true },
    {
      name: 'a wrong password',
      headers: { ...operator, ...basic(OPERATOR_ENV.OPERATOR_USER, 'guess') },
      via,
      ...ENDED,
    },
    {
      name: 'the link of an operator who reads',
      ...bearer(await linkOfOperator(via)),
      ...{ ...ownLink, isOfOperator: true },
    },
    {
      name: 'the writing link of an operator who may only read by now',
      ...bearer(await linkOfOperator(writable)),
      ...{ ...ownLink, isOfOperator: true },
    },
    {
      name: 'the link of an operator who writes',
      ...bearer(await linkOfOperator(writable)),
      ...{ ...ownLink, link: 'change', isOfOperator: true, via: writable },
    },
  ];
}

/** What was good once. */
async function createDead(
  herald: Herald,
  { workspace }: Inhabited,
  linkOf: (key: string, readOnly: boolean) => Promise<string>,
): Promise<[name: string, token: string][]> {
  const keys = createApiKeyStore({ redis: herald.redis, now: Date.now });
  const of = { workspaceId: workspace.id, scopes: OF_TENANTS };
  const revoked = await keys.create(of);
  const linkOfRevoked = await linkOf(revoked.key, false);
  await keys.revoke(revoked.record.id);
  const made = await herald.request('POST', '/api/public/portal-links', { key: workspace.key, body: {} });
  const ended = bodyOf(made, 201) as { id: string; token: string };
  bodyOf(await herald.request('DELETE', `/api/public/portal-links/${ended.id}`, { key: workspace.key }), 200);
  const expired = await keys.create({ ...of, expiresAt: Date.now() + patient(1_000) });
  // It ends with its key.
  const linkOfExpired = await linkOf(expired.key, false);
  const ask = async (options: RequestOptions) => (await herald.request('GET', '/api/public/webhooks', options)).status;
  for (const key of [expired.key, linkOfExpired]) {
    await waitFor('its end', async () => (await ask({ key })) === 401);
  }
  return [
    ['a revoked key', revoked.key],
    ['the link of a revoked key', linkOfRevoked],
    ['a revoked link', ended.token],
    ['an expired key', expired.key],
    ['an expired link', linkOfExpired],
  ];
}
