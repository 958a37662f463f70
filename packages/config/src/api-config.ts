import { z } from 'zod';
import { DestinationEnv } from '@herald/egress/egress-env';
import { IntegerText, ParsedText, Port, problemOf, readEnv } from '@herald/runtime/env/env';
import { ProcessEnv, toProcessConfig } from './shared-env.ts';
import { withLongerHistory } from './history-env.ts';
import { withOneRedis } from './redis-env.ts';
import { clashes, type Listener } from './find-port-clash.ts';
import { AllowedOrigins, FrameAncestors } from './frame-ancestors.ts';
import { OperatorEnv, toOperatorConfig, withBothCredentials } from './operator-env.ts';

const ACTION_URL = 'https://app.example.com/tasks/{taskId}/actions/{actionVersion}';

/** As a browser would read it: it goes into bodies, and into pages. */
function readActionUrlTemplate(text: string): string | undefined {
  // Names in braces would be encoded.
  const url = URL.parse(text.replaceAll('{taskId}', 'task-id-').replaceAll('{actionVersion}', 'action-version-'));
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href.replaceAll('task-id-', '{taskId}').replaceAll('action-version-', '{actionVersion}');
}

const ActionUrlTemplate = z
  .string({ error: `must be set, such as ${ACTION_URL}` })
  .refine((text) => text.includes('{taskId}'), 'must contain {taskId}')
  .pipe(ParsedText(readActionUrlTemplate, `must be an http or https url such as ${ACTION_URL}`));

/** Without a slash at the end, so that paths can follow. */
function readPublicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || /[?#@]/.test(text)) return undefined;
  return url.href.replace(/\/+$/, '');
}

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
    allowedOrigins: given.API_ALLOWED_ORIGINS,
    /** Undefined: there are no operator pages. */
    operator: toOperatorConfig(given),
    /** Undefined: only operators read the metrics. */
    metricsToken: given.METRICS_TOKEN,
    /** Undefined: the operator pages are where the rest is. */
    operatorListener: toOperatorListener(given),
  };
}
