import { ID_PATTERNS } from '@herald/core';
import {
  type ApiKey,
  createApiKeyStore,
  type Scope,
  isApiKeyText,
  isPortalTokenText,
  keyIdIn,
} from '@herald/store/access/api-key-store';
import { type AuditEntry, createAuditTrail } from '@herald/store/access/audit-trail';
import { createPortalLinkStore, makerOf, type PortalLink } from '@herald/store/access/portal-link-store';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { bad, type Cell, good, toDate } from '../context/create-output.ts';
import type { Herald } from '../context/open-herald.ts';

/** Entries of the trail that are shown. `herald audit` shows the others. */
const TRAIL_LENGTH = 20;

/** `herald keys find`: whose key or link this is, of which somebody has the text or the id. */
export function createFindCommand({ openHerald, output, readInput }: CommandDeps): Command {
  return new Command('find')
    .description('whose key or portal link it is that somebody found, whether it is valid, and what was done with it')
    .argument(
      '[id]',
      'of a key (key_…) or a portal link (plk_…); without it, give the whole key or token on standard input',
    )
    .addHelpText(
      'after',
      `
It never prints the key. On a terminal, what you type or paste isn't shown. Keys that are made since their text carries
their id are recognized when they are revoked, too.
${examples('herald keys find key_0123456789abcdef', 'herald keys find < found-key.txt', 'herald keys find --json < found-key.txt')}`,
    )
    .action(async (id: string | undefined, { json }: JsonOption, command: Command) => {
      const sought = id === undefined ? readText(await readInput('The key, or the token: ')) : readId(id);
      if (typeof sought === 'string') return command.error(`error: ${sought}`);
      await using herald = await openHerald();
      const found = await find(herald, sought);
      if (typeof found === 'string') return command.error(`error: ${found}`);
      if (json) output.json(toJson(found));
      else {
        output.facts(toFacts(found));
        output.line('');
        output.table(TRAIL_COLUMNS, found.trail.map(toTrailRow), 'The audit trail has nothing that was done with it.');
      }
    });
}

type Sought = { readonly kind: 'api_key' | 'portal_link'; readonly text?: string; readonly id?: string | undefined };

/** What a whole key or a token says of itself. A text: what is wrong. It is never repeated. */
function readText(text: string): Sought | string {
  if (isApiKeyText(text)) return { kind: 'api_key', text, id: keyIdIn(text) };
  if (isPortalTokenText(text)) return { kind: 'portal_link', text };
  const id = keyIdIn(text);
  if (id !== undefined) {
    return `the checksum at the end of this key is wrong: a part is missing, or was changed. It names ${id}: herald keys find ${id} says whose that is`;
  }
  return `this is no key and no token. ${FORMS}. The last six characters are a checksum, so give all of it`;
}

const FORMS =
  'A key is hrld_, 16 hex digits, _ and 38 letters and digits (former ones lack the hex digits and their _); the token of a portal link is hrlp_ and 38 letters and digits';

function readId(id: string): Sought | string {
  if (/^key_[0-9a-f]{16}$/.test(id)) return { kind: 'api_key', id };
  if (ID_PATTERNS.portal_link.test(id)) return { kind: 'portal_link', id };
  if (isApiKeyText(id) || isPortalTokenText(id)) {
    return 'this is the key or the token itself, which others can see in the list of processes and in the history of the shell: give it on standard input';
  }
  return 'the id of a key is such as key_0123456789abcdef, that of a portal link such as plk_0123456789abcdef';
}

type Found = {
  readonly kind: Sought['kind'];
  readonly id: string;
  /** Absent: it is not valid. */
  readonly key?: ApiKey | undefined;
  readonly link?: PortalLink | undefined;
  readonly trail: readonly AuditEntry[];
};

/** A text: why nothing can be said of it. */
async function find(herald: Herald, sought: Sought): Promise<Found | string> {
  const { kind, text } = sought;
  const { key, link } = await findRecord(herald, sought);
  const id = key?.id ?? link?.id ?? sought.id;
  if (id === undefined) {
    return kind === 'portal_link'
      ? 'this link has ended: it has expired, or it or the API key that made it was revoked. Its token carries no id, so nothing more is known of it'
      : 'this key is not valid: it was revoked, has expired, or belongs to another Herald. It is of a former kind that carries no id, so nothing more is known of it';
  }
  if (text !== undefined && !key && !link && (await createApiKeyStore(herald).findById(id))) {
    return `this is not the key ${id}, whose id it names and which is valid: somebody changed it or made it up`;
  }
  const trail = createAuditTrail({ ...herald, length: herald.config.auditLength });
  const { entries } = await trail.find({ by: id, limit: TRAIL_LENGTH });
  if (!key && !link && text === undefined && entries.length === 0) {
    return `there is no ${kind === 'api_key' ? 'key' : 'portal link'} ${id}, and the audit trail has nothing of it: it ended long ago, or never was`;
  }
  return { kind, id, key, link, trail: entries };
}

async function findRecord(herald: Herald, { kind, text, id = '' }: Sought): Promise<Pick<Found, 'key' | 'link'>> {
  if (kind === 'api_key') {
    const keys = createApiKeyStore(herald);
    return { key: await (text === undefined ? keys.findById(id) : keys.find(text)) };
  }
  const links = createPortalLinkStore(herald);
  if (text !== undefined) return { link: await links.find(text) };
  const workspaceId = await links.findWorkspace(id);
  const list = workspaceId === undefined ? [] : await links.list(workspaceId);
  return { link: list.find((each) => each.id === id) };
}

function toJson({ kind, id, key, link, trail }: Found) {
  const record = key ?? link;
  return {
    id,
    kind,
    valid: record !== undefined,
    workspaceId: record?.workspaceId,
    scopes: key?.scopes,
    readOnly: link?.readOnly,
    name: key?.name,
    createdBy: link && makerOf(link),
    operator: link?.operator,
    createdAt: toDate(record?.createdAt),
    lastUsedAt: toDate(key?.lastUsedAt),
    expiresAt: toDate(record?.expiresAt),
    trail: trail.map(({ at, ...entry }) => ({ ...entry, at: new Date(at) })),
  };
}

function toFacts({ kind, id, key, link, trail }: Found): Record<string, Cell> {
  const record = key ?? link;
  if (!record) {
    const why = trail.length > 0 ? 'revoked or expired; its trail:' : 'revoked, expired, or never made here';
    return { [NAMES[kind]]: id, valid: bad(`no: ${why}`) };
  }
  return {
    [NAMES[kind]]: id,
    valid: good('yes'),
    workspace: record.workspaceId ?? ownerWithoutWorkspace(key?.scopes),
    scopes: key?.scopes.join(', '),
    'may only read': link && (link.readOnly ? 'yes' : 'no'),
    name: key?.name,
    'made by': link && [makerOf(link), link.operator].filter(Boolean).join(' '),
    created: new Date(record.createdAt),
    'last used': key && (toDate(key.lastUsedAt) ?? 'never'),
    expires: toDate(record.expiresAt) ?? 'never',
  };
}

const NAMES = { api_key: 'key', portal_link: 'portal link' };
const TRAIL_COLUMNS = ['at', 'action', 'target', 'workspace', 'address', 'request'];

function toTrailRow({ at, action, target, workspaceId, address, requestId }: AuditEntry): Cell[] {
  return [new Date(at), action, target, workspaceId, address, requestId];
}

/** Whose key it is that belongs to no workspace. */
export function ownerWithoutWorkspace(scopes: readonly Scope[] = []): string {
  return scopes.includes('platform') ? '(platform)' : '(executor)';
}
