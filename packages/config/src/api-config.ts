import { DestinationEnv } from '@herald/egress/egress-env';
import { IntegerText, ParsedText, Port, problemOf, readEnv, readItems } from '@herald/runtime/env';
import { z } from 'zod';
import { BrandText } from './console-brand.ts';
import { OperatorEnv, toOperatorConfig, withBothCredentials } from './operator-env.ts';
import { withOneRedis } from './redis-env.ts';
import { ProcessEnv, toProcessConfig, withLongerHistory } from './shared-env.ts';

const ACTION_URL = 'https://app.example.com/tasks/{taskId}/actions/{actionVersion}';

/** As a browser would read it: it goes into bodies, and into pages. */
function readActionUrlTemplate(text: string): string | undefined {
  // Names in braces would be encoded.
  const url = URL.parse(text.replaceAll('{taskId}', 'task-id-').replaceAll('{actionVersion}', 'action-version-'));
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href.replaceAll('task-id-', '{taskId}').replaceAll('action-version-', '{actionVersion}');
}

function hasCredentials(text: string): boolean {
  const { username, password } = URL.parse(text) ?? {};
  return Boolean(username) || Boolean(password);
}

const ActionUrlTemplate = z
  .string({ error: `must be set, such as ${ACTION_URL}` })
  .refine((text) => text.includes('{taskId}'), 'must contain {taskId}')
  .refine((text) => !hasCredentials(text), 'must have no user and no password: receivers get it')
  .pipe(ParsedText(readActionUrlTemplate, `must be an http or https url such as ${ACTION_URL}`));

/** Without a slash at the end, so that paths can follow. */
function readPublicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || /[?#@]/.test(text)) return undefined;
  return url.href.replace(/\/+$/, '');
}

/** An origin as a Content Security Policy names it; `https://*.example.com` stands for every subdomain. */
const ORIGIN = /^https?:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[1-9]\d{0,4})?$/;

/** As a browser sends it: without the usual port. */
function readOrigin(text: string): string | undefined {
  return ORIGIN.test(text) ? URL.parse(text)?.origin : undefined;
}

/** Origins, separated by commas, whose pages may call the API. Default: none. */
const AllowedOrigins = ParsedText(
  (text) => readItems(text, (origin) => (origin.includes('*') ? undefined : readOrigin(origin))),
  'must be origins without a path, in lower case and separated by commas, such as https://app.example.com; none has a *',
).default([]);

/** Origins, separated by commas, whose pages may show the console in a frame. Default: none. */
export const FrameAncestors = ParsedText(
  (text) => readItems(text, readOrigin),
  'must be origins without a path, in lower case and separated by commas, such as https://app.example.com',
).default([]);

export const ApiEnv = withBothCredentials(
  withOneRedis(
    z.object({
      ...ProcessEnv.shape,
      ...DestinationEnv.shape,
      PORT: Port.default(8080),
      HOST: z.string().default('127.0.0.1'),
      ACTION_URL_TEMPLATE: ActionUrlTemplate,
      /** Requests a second of one workspace key; 0: no limit. */
      RATE_LIMIT: IntegerText(0, 1_000_000).default(200),
      /** Proxies in front of the API, whose entries in X-Forwarded-For are trusted. */
      TRUST_PROXY: IntegerText(0, 16).default(0),
      /** Where people reach the service; links to the console begin with it. */
      PUBLIC_URL: ParsedText(
        readPublicUrl,
        'must be a url such as https://herald.example.com, without user, query and fragment',
      ).optional(),
      /** Origins whose pages may show the console in a frame. */
      CONSOLE_FRAME_ANCESTORS: FrameAncestors,
      /** How the console of customers looks. */
      CONSOLE_BRAND: BrandText,
      /** Origins whose pages may call what customers call. */
      API_ALLOWED_ORIGINS: AllowedOrigins,
      ...OperatorEnv.shape,
    }),
  ),
);

type Listening = {
  PORT?: number;
  HOST?: string;
  OPERATOR_PORT?: number | undefined;
  OPERATOR_HOST?: string | undefined;
};

/** Undefined: the operator pages are where the rest is. */
function toOperatorListener({ HOST = '', OPERATOR_PORT: port, OPERATOR_HOST }: Listening): Listener | undefined {
  return port === undefined ? undefined : { host: OPERATOR_HOST ?? HOST, port };
}

/** One process can't listen twice at one address. */
function withTwoPorts<Schema extends z.ZodType<Listening>>(schema: Schema): Schema {
  return schema.refine(
    (given) => {
      const operators = toOperatorListener(given);
      return !operators || !clashes({ host: given.HOST ?? '', port: given.PORT ?? 0 }, operators);
    },
    problemOf('OPERATOR_PORT', 'must be another port than PORT: what is there is for customers'),
  );
}

/** The settings of an API process. */
export type ApiConfig = ReturnType<typeof readApiConfig>;

/** @throws ConfigError with every problem at once */
export function readApiConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(withTwoPorts(withLongerHistory(ApiEnv)), env);
  return {
    ...toProcessConfig(given),
    minReplicas: given.REDIS_MIN_REPLICAS,
    allowCidrs: given.EGRESS_ALLOW_CIDRS,
    denyCidrs: given.EGRESS_DENY_CIDRS,
    taskRetentionMs: given.TASK_RETENTION,
    port: given.PORT,
    host: given.HOST,
    actionUrlTemplate: given.ACTION_URL_TEMPLATE,
    rateLimit: given.RATE_LIMIT,
    proxyCount: given.TRUST_PROXY,
    /** Undefined: links to the console are paths. */
    publicUrl: given.PUBLIC_URL,
    frameAncestors: given.CONSOLE_FRAME_ANCESTORS,
    /** Undefined: the console shows itself as Herald. */
    brand: given.CONSOLE_BRAND,
    allowedOrigins: given.API_ALLOWED_ORIGINS,
    /** Undefined: there are no operator pages. */
    operator: toOperatorConfig(given),
    /** Undefined: only operators read the metrics. */
    metricsToken: given.METRICS_TOKEN,
    /** Undefined: the operator pages are where the rest is. */
    operatorListener: toOperatorListener(given),
  };
}

type Listener = { readonly host: string; readonly port: number };

const ALL_ADDRESSES = ['0.0.0.0', '::'];

type ApiListeners = Listener & {
  /** Where the operator pages are, if they have a port of their own. */
  readonly operatorListener?: Listener | undefined;
};

/** Whether two could not both listen on one machine. */
function clashes(one: Listener, other: Listener): boolean {
  const hosts = [one.host, other.host];
  const isOneHost = one.host === other.host || hosts.some((host) => ALL_ADDRESSES.includes(host));
  return one.port === other.port && one.port !== 0 && isOneHost;
}

/** The problem of an API and a worker that could not both listen on one machine. */
export function findPortClash(api: ApiListeners, worker: Listener): string | undefined {
  const problemWith = (variable: string) => `WORKER_PORT must not be ${worker.port}, since ${variable} is`;
  if (clashes(api, worker)) return problemWith('PORT');
  if (api.operatorListener && clashes(api.operatorListener, worker)) return problemWith('OPERATOR_PORT');
  return undefined;
}
