import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { HistoryRefusal } from '../errors/history-errors.ts';

/** What a server is. */
export type ServerKind = { readonly isStandby: boolean; readonly isReadOnly: boolean };
export type Wish = (kind: ServerKind) => boolean;

const isAny: Wish = () => true;
/** `target_session_attrs`, as libpq knows it: which servers are wanted, the best ones first. */
const WISHES: Readonly<Record<string, readonly Wish[]>> = {
  any: [isAny],
  'read-write': [({ isReadOnly }) => !isReadOnly],
  'read-only': [({ isReadOnly }) => isReadOnly],
  primary: [({ isStandby }) => !isStandby],
  standby: [({ isStandby }) => isStandby],
  'prefer-standby': [({ isStandby }) => isStandby, isAny],
};

/** `HISTORY_URL`. `hosts`: a url for each of its hosts. `wishes` is absent when any server will do. */
export type HistoryUrl = { readonly hosts: readonly string[]; readonly wishes?: readonly Wish[] };

/** @throws HistoryRefusal */
export function readHistoryUrl(text: string): HistoryUrl {
  const [, before = '', hosts = '', after = ''] = /^([^:]+:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/.exec(text) ?? [];
  const urls = hosts.split(',').map((host) => `${before}${host}${after}`);
  const wanted = URL.parse(urls[0] ?? '')?.searchParams.get('target_session_attrs') ?? 'any';
  const wishes = WISHES[wanted];
  if (wishes) return { hosts: urls, ...(wanted !== 'any' && { wishes }) };
  const known = Object.keys(WISHES).join(', ');
  throw new HistoryRefusal(`HISTORY_URL has a target_session_attrs that is none of ${known}`);
}

/** The driver takes these for verify-full, and warns of them each time. */
const AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca'];

/** How to connect to one of the hosts. It reads the certificates that the url names. */
export function readClientConfig(hostUrl: string): pg.ClientConfig {
  const url = new URL(hostUrl);
  const { searchParams: parameters } = url;
  if (AS_VERIFY_FULL.includes(parameters.get('sslmode') ?? '') && parameters.get('uselibpqcompat') !== 'true') {
    parameters.set('sslmode', 'verify-full');
  }
  const { password, ...config } = parseIntoClientConfig(url.href);
  const passfile = parameters.get('passfile');
  if (password !== undefined && password !== '') return { ...config, password };
  if (passfile === null) return config;
  return { ...config, password: async () => findPassword(await readFile(passfile, 'utf8'), url, passfile) };
}

/** A field of a line, which ends at a colon without a backslash before it. */
const FIELD = String.raw`((?:\\.|[^\\:])*)`;
const LINE = new RegExp(`^${FIELD}:${FIELD}:${FIELD}:${FIELD}:(.*)$`);

/**
 * The password in a file like ~/.pgpass of PostgreSQL: lines with host:port:database:user:password, of which the first that
 * fits counts. `*` stands for anything.
 * @throws HistoryRefusal when none fits
 */
function findPassword(text: string, { hostname, port, pathname, username }: URL, passfile: string): string {
  const place = [hostname.replace(/^\[(.*)\]$/, '$1'), port === '' ? '5432' : port, pathname.slice(1), username];
  const wanted = place.map(decodeURIComponent);
  for (const line of text.split(/\r?\n/)) {
    const fields = (LINE.exec(line)?.slice(1) ?? []).map((field) => field.replace(/\\(.)/g, '$1'));
    const password = fields[4];
    const fits = wanted.every((each, index) => fields[index] === '*' || fields[index] === each);
    if (password !== undefined && fits && !line.startsWith('#')) return password;
  }
  throw new HistoryRefusal(`the file ${passfile} of HISTORY_URL has no line for ${wanted.join(':')}`);
}
