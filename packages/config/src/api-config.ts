import { z } from 'zod';
import { DestinationEnv } from '@herald/egress/egress-env';
import { IntegerText, ParsedText, Port, readEnv } from '@herald/runtime/env/env';
import { ProcessEnv, toProcessConfig } from './shared-env.ts';
import { withLongerHistory } from './history-env.ts';
import { withOneRedis } from './redis-env.ts';
import { FrameAncestors } from './frame-ancestors.ts';
import { OperatorEnv, toOperatorConfig, withBothCredentials } from './operator-env.ts';

const ActionUrlTemplate = z
  .string({ error: 'must be set, such as https://app.example.com/tasks/{taskId}/actions/{actionVersion}' })
  .refine((text) => URL.canParse(text.replace(/\{(taskId|actionVersion)\}/g, 'x')), 'must be a url')
  .refine((text) => text.includes('{taskId}'), 'must contain {taskId}');

/** Without a slash at the end, so that paths can follow. */
function readPublicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || /[?#@]/.test(text)) return undefined;
  return text.replace(/\/+$/, '');
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
      ...OperatorEnv.shape,
    }),
  ),
);

/** The settings of an API process. */
export type ApiConfig = ReturnType<typeof readApiConfig>;

/** @throws ConfigError with every problem at once */
export function readApiConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(withLongerHistory(ApiEnv), env);
  return {
    ...toProcessConfig(given),
    minReplicas: given.REDIS_MIN_REPLICAS,
    allowCidrs: given.EGRESS_ALLOW_CIDRS,
    taskRetentionMs: given.TASK_RETENTION,
    port: given.PORT,
    host: given.HOST,
    actionUrlTemplate: given.ACTION_URL_TEMPLATE,
    rateLimit: given.RATE_LIMIT,
    proxyCount: given.TRUST_PROXY,
    /** Undefined: links to the console are paths. */
    publicUrl: given.PUBLIC_URL,
    frameAncestors: given.CONSOLE_FRAME_ANCESTORS,
    /** Undefined: there are no operator pages. */
    operator: toOperatorConfig(given),
  };
}
