import type { KubernetesObject } from './render-chart.ts';

/** The parts of a container that are looked at. */
export interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: SecretReference }[];
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly livenessProbe?: { readonly httpGet: object };
  readonly readinessProbe?: { readonly httpGet: object };
  readonly resources?: { readonly limits: object; readonly requests: object };
  readonly securityContext: object;
}
interface SecretReference {
  readonly secretKeyRef: { readonly name: string; readonly key: string };
}
type Labels = Readonly<Record<string, string>>;
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly [Container];
}

/** What the Secrets of the examples hold, by key. */
const SECRETS: Readonly<Record<string, string>> = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  REDIS_SENTINELS: 'rediss://user:password@10.0.3.1:26379,10.0.3.2:26379',
  REDIS_SENTINEL_PASSWORD: 'password',
  REDIS_CLUSTER_NODES: 'user:password@redis-0.redis.svc:6379,redis-1.redis.svc:6379',
  OPERATOR_USER: 'operator',
  OPERATOR_PASSWORD: 'correct horse battery',
  METRICS_TOKEN: 'a token of sixteen'.replaceAll(' ', '-'),
  NOTICE_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  HISTORY_URL: 'postgres://user:password@10.0.5.10/herald?sslmode=verify-full',
  EGRESS_PROXY_URL: 'http://user:password@10.0.4.10:3128',
  headers: 'authorization=Bearer%20token',
};

/** The pods of all Deployments. Each has one container. */
export function podsOf(objects: readonly KubernetesObject[]) {
  return objects
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata, spec }) => {
      const { template } = spec as { template: { metadata: { labels: Labels }; spec: PodSpec } };
      const [container] = template.spec.containers;
      return { name: metadata.name, labels: template.metadata.labels, spec: template.spec, container };
    });
}

/** A container's variables, with what its Secrets hold. */
export function environmentOf({ env }: Container): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const text = valueFrom === undefined ? value : SECRETS[valueFrom.secretKeyRef.key];
      if (text === undefined) throw new Error(`${name} has no value`);
      return [name, text];
    }),
  );
}

export function labelsOf({ metadata }: KubernetesObject): Labels {
  return (metadata as { labels?: Labels }).labels ?? {};
}

/** The labels by which an object selects others. Undefined: it selects none. */
export function selectorOf({ spec = {} }: KubernetesObject): Labels | undefined {
  const { selector, podSelector } = spec as { selector?: object; podSelector?: object };
  const found = selector ?? podSelector;
  if (found === undefined) return undefined;
  return 'matchLabels' in found ? (found.matchLabels as Labels) : (found as Labels);
}
