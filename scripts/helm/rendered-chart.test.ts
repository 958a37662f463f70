import { readApiConfig } from '@herald/config/api-config';
import { readWorkerConfig } from '@herald/config/worker-config';
import { Ajv } from 'ajv';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CRD_SCHEMAS } from './crd-schemas.ts';
import { environmentOf, labelsOf, podsOf, selectorOf } from './rendered-pods.ts';
import {
  CHART,
  hasHelm,
  hasValidator,
  type KubernetesObject,
  OLDEST_KUBERNETES,
  readChartFile,
  renderChart,
  runHelm,
  SET_UPS,
  validateObjects,
} from './render-chart.ts';

// Neither comes with npm ci. To run these: go install helm.sh/helm/v3/cmd/helm@v3.22.0, and
// pip install kubernetes-validate; both on the PATH.
const describeWithHelm = hasHelm ? describe : describe.skip;
const describeWithValidator = hasValidator ? describe : describe.skip;

const NEWEST_KUBERNETES = '1.34';
const [cluster, oneServer, sentinels] = SET_UPS.map(({ file }) => file) as [string, string, string];
const API_STOP_LIMIT_S = Number(
  /STOP_LIMIT_MS = (\d+)_000;/.exec(readFileSync(join(CHART, '../../../apps/api/src/main.ts'), 'utf8'))?.[1],
);

const byName = (objects: readonly KubernetesObject[], kind: string, name: string) => {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`the chart made no ${kind} ${name}`);
  return found as KubernetesObject & { readonly spec: Readonly<Record<string, unknown>> };
};
const containerOf = (objects: readonly KubernetesObject[], process: string) => {
  const pod = podsOf(objects).find(({ name }) => name === `herald-${process}`);
  if (!pod) throw new Error(`the chart made no pod for ${process}`);
  return pod.container;
};

describeWithHelm('with helm (go install helm.sh/helm/v3/cmd/helm@v3.22.0)', () => {
  describe.each(SET_UPS)('the set-up $name', ({ file }) => {
    const objects = hasHelm ? renderChart(file) : [];

    test('passes helm lint', () => {
      const { status, output } = runHelm('lint', '--strict', CHART, '--values', file);
      expect(output).toContain('1 chart(s) linted, 0 chart(s) failed');
      expect(status).toBe(0);
    });

    describeWithValidator('with kubernetes-validate (pip install kubernetes-validate)', () => {
      test.each([OLDEST_KUBERNETES, NEWEST_KUBERNETES])('holds against the schemas of Kubernetes %s', (kubernetes) => {
        const ours = objects.filter(({ kind }) => !(kind in CRD_SCHEMAS));
        const { status, output } = validateObjects(ours, kubernetes);
        expect(output.match(/^INFO - passed/gm)).toHaveLength(ours.length);
        expect(output).not.toMatch(/ERROR|WARN/);
        expect(status).toBe(0);
      });
    });

    test('gives api and worker variables that they accept, and that say the same of Redis', () => {
      const api = readApiConfig(environmentOf(containerOf(objects, 'api')));
      const worker = readWorkerConfig(environmentOf(containerOf(objects, 'worker')));
      expect(api.redis).toEqual(worker.redis);
      expect([api.shardCount, api.retentionMs]).toEqual([worker.shardCount, worker.retentionMs]);
    });

    test('lets each pod end in order, and asks it what it answers', () => {
      const worker = readWorkerConfig(environmentOf(containerOf(objects, 'worker')));
      for (const { name, container, spec } of podsOf(objects).filter(({ container }) => container.livenessProbe)) {
        const pauseS = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
        const stopS = name === 'herald-worker' ? worker.deliveryTimeoutMs / 1_000 + 5 : API_STOP_LIMIT_S;
        expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pauseS + stopS + 5);
        expect(container.livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'http' });
        expect(container.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'http' });
      }
    });

    test('gives no pod a right that it does not need', () => {
      const pods = podsOf(objects);
      expect(pods.length).toBeGreaterThanOrEqual(2);
      for (const { spec, container } of pods) {
        expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
        expect(spec.securityContext).toEqual({
          runAsNonRoot: true,
          runAsUser: 1000,
          runAsGroup: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources?.limits).toHaveProperty('memory');
        expect(container.resources?.requests).toHaveProperty('cpu');
      }
    });

    test('selects pods and Services that there are', () => {
      const pods = podsOf(objects).map(({ labels }) => labels);
      const services = objects.filter(({ kind }) => kind === 'Service').map(labelsOf);
      const selecting = objects.filter((each) => selectorOf(each) !== undefined);
      expect(selecting.length).toBeGreaterThan(6);
      const selectsNone = (each: KubernetesObject) =>
        !(each.kind === 'ServiceMonitor' ? services : pods).some((labels) =>
          Object.entries(selectorOf(each) ?? {}).every(([name, value]) => labels[name] === value),
        );
      expect(selecting.filter(selectsNone)).toEqual([]);
      // Every pod is behind a fence of its own.
      const fences = objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ metadata }) => metadata.name);
      expect(fences.sort()).toEqual(
        podsOf(objects)
          .map(({ name }) => name)
          .sort(),
      );
    });
  });

  test('monitors and rules are as the Prometheus Operator reads them, and the rules are the alerts', () => {
    const ofOperator = [cluster, sentinels]
      .flatMap((file) => renderChart(file))
      .filter(({ kind }) => kind in CRD_SCHEMAS);
    expect(ofOperator.map(({ kind }) => kind).sort()).toEqual([
      'PrometheusRule',
      ...Array<string>(4).fill('ServiceMonitor'),
    ]);
    for (const each of ofOperator) {
      const validate = new Ajv().compile(CRD_SCHEMAS[each.kind] ?? {});
      validate(each);
      expect(validate.errors).toBeNull();
    }
    expect(ofOperator.find(({ kind }) => kind === 'PrometheusRule')?.spec).toEqual(
      parse(readChartFile('files/alerts.yml')),
    );
  });

  const servicesOf = (objects: readonly KubernetesObject[]) =>
    objects
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata, spec }) => [
        metadata.name,
        ...(spec as { ports: { targetPort: string }[] }).ports.map(({ targetPort }) => targetPort),
      ]);
  const endpointOf = (objects: readonly KubernetesObject[], name: string) =>
    (byName(objects, 'ServiceMonitor', name).spec.endpoints as Readonly<Record<string, unknown>>[])[0];

  test('operators have a port and a Service of their own, to which neither the Ingress nor the world leads', () => {
    const objects = renderChart(sentinels);
    expect(servicesOf(objects)).toEqual([
      ['herald-api', 'http'],
      ['herald-operators', 'operators'],
      ['herald-worker', 'http'],
    ]);
    expect(JSON.stringify(byName(objects, 'Ingress', 'herald').spec)).not.toContain('operators');
    expect(readApiConfig(environmentOf(containerOf(objects, 'api'))).operatorListener).toEqual({
      host: '0.0.0.0',
      port: 8082,
    });
    const namespace = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    expect(byName(objects, 'NetworkPolicy', 'herald-api').spec.ingress).toEqual([
      { ports: [{ port: 'http' }], from: [namespace('ingress-nginx'), namespace('executors')] },
      { ports: [{ port: 'operators' }], from: [namespace('monitoring'), namespace('operators')] },
    ]);
  });

  test('without operators and a token there is no such port', () => {
    const objects = renderChart(oneServer);
    expect(servicesOf(objects).map(([name]) => name)).toEqual(['herald-api', 'herald-worker']);
    expect(readApiConfig(environmentOf(containerOf(objects, 'api'))).operatorListener).toBeUndefined();
    expect(byName(objects, 'NetworkPolicy', 'herald-api').spec.ingress).toEqual([{ ports: [{ port: 'http' }] }]);
  });

  test('Prometheus reads the API at that port: with the token if there is one, otherwise as operator', () => {
    const withToken = renderChart(sentinels);
    expect(endpointOf(withToken, 'herald-api')).toMatchObject({
      port: 'operators',
      authorization: { credentials: { name: 'herald-operators', key: 'METRICS_TOKEN' } },
    });
    expect(endpointOf(withToken, 'herald-worker')).toMatchObject({ port: 'http' });
    expect(endpointOf(renderChart(cluster), 'herald-api')).toMatchObject({
      port: 'operators',
      basicAuth: { username: { name: 'herald-operators', key: 'OPERATOR_USER' } },
    });
    const tokenAlone = renderChart(cluster, '--set', 'operators.existingSecret=,metricsToken.existingSecret=herald');
    expect(endpointOf(tokenAlone, 'herald-api')).not.toHaveProperty('basicAuth');
    expect(readApiConfig(environmentOf(containerOf(tokenAlone, 'api'))).operator).toBeUndefined();
  });

  test('what is switched off is not made, and OpenShift chooses the user', () => {
    const off = ['podDisruptionBudget.enabled=false', 'networkPolicy.enabled=false', 'runAsUser=null'];
    const objects = renderChart(oneServer, '--set', off.join());
    expect(objects.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Deployment', 'Service', 'Service']);
    expect(podsOf(objects).filter(({ spec }) => 'runAsUser' in spec.securityContext)).toEqual([]);
  });

  test('without an adapter, workers grow by the processor alone', () => {
    const scaling = 'worker.autoscaling.enabled=true,worker.autoscaling.queueAgeSeconds=null';
    const { spec } = byName(renderChart(oneServer, '--set', scaling), 'HorizontalPodAutoscaler', 'herald-worker');
    expect(spec.metrics).toMatchObject([{ type: 'Resource' }]);
  });

  test('workers reach the world on 443 but no private range, and the API Redis and name servers alone', () => {
    const objects = renderChart(oneServer);
    const egressOf = (process: string) =>
      JSON.stringify(byName(objects, 'NetworkPolicy', `herald-${process}`).spec.egress);
    expect(egressOf('worker')).toMatch(/"cidr":"0\.0\.0\.0\/0","except":\["0\.0\.0\.0\/8","10\.0\.0\.0\/8"/);
    expect(egressOf('worker')).toMatch(/"cidr":"2000::\/3".*"ports":\[\{"port":443\}\]\}\]$/);
    const rules = JSON.parse(egressOf('api')) as { ports: { port: number }[] }[];
    expect(rules.map(({ ports }) => ports.map(({ port }) => port))).toEqual([[53, 53], [6379]]);
  });

  test('with a proxy, workers reach it and the world no longer', () => {
    const egress = JSON.stringify(byName(renderChart(cluster), 'NetworkPolicy', 'herald-worker').spec.egress);
    expect(egress).toContain('{"to":[{"ipBlock":{"cidr":"10.0.4.10/32"}}],"ports":[{"port":3128}]}');
    expect(egress).not.toContain('0.0.0.0/0');
  });

  test('workers grow with the age of the queue and with the processor, and the number of pods is left to that', () => {
    const objects = renderChart(cluster);
    expect(byName(objects, 'Deployment', 'herald-worker').spec).not.toHaveProperty('replicas');
    expect(byName(objects, 'HorizontalPodAutoscaler', 'herald-worker').spec.metrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '700m' } } },
      {
        type: 'External',
        external: {
          metric: { name: 'herald_queue_oldest_due_seconds', selector: { matchLabels: { service: 'herald-worker' } } },
          target: { type: 'Value', value: '10' },
        },
      },
    ]);
  });

  test('no value of a Secret is in what is rendered: each is a reference', () => {
    const objects = renderChart(sentinels);
    const variables = containerOf(objects, 'api').env.filter(({ valueFrom }) => valueFrom !== undefined);
    expect(variables.map(({ name }) => name)).toEqual([
      'REDIS_SENTINELS',
      'REDIS_SENTINEL_PASSWORD',
      'SECRETS_KEY',
      'OPERATOR_USER',
      'OPERATOR_PASSWORD',
      'METRICS_TOKEN',
    ]);
    expect(objects.map(({ kind }) => kind)).not.toContain('Secret');
  });

  test('an image with a digest is taken by it', () => {
    expect(containerOf(renderChart(sentinels), 'api').image).toMatch(
      /^registry\.example\.com\/herald:\d+\.\d+\.\d+@sha256:/,
    );
  });

  test('a chart without values lists all that is missing', () => {
    const { status, output } = runHelm('template', 'herald', CHART, '--kube-version', OLDEST_KUBERNETES);
    expect(status).toBe(1);
    for (const name of ['image.repository', 'secretsKey.existingSecret', 'actionUrlTemplate', 'redis.address'])
      expect(output).toMatch(new RegExp(`^- ${name} .*must`, 'm'));
    expect(output).toMatch(/^- networkPolicy\.redis\.to must say where Redis is/m);
  });

  test.each([
    ['a password in the address', 'redis.address=redis://:x@redis:6379', 'redis.address must have no password'],
    ['two addresses', 'redis.existingSecret=x', 'redis.address or redis.existingSecret must be set, and not both'],
    ['Sentinels without the name of the master', 'redis.kind=sentinels', 'redis.sentinelMaster must be set'],
    ['the name of a master without Sentinels', 'redis.sentinelMaster=x', 'redis.kind must be sentinels'],
    ['a history nowhere', 'history.existingSecret=herald', 'networkPolicy.history.to must say'],
    ['notices without a secret', 'notices.url=https://example.com', 'notices.url and notices.existingSecret must both'],
    [
      'a password in the url of the proxy',
      'egressProxy.url=http://a:b@proxy:1',
      'egressProxy.url must have no password',
    ],
    ['a proxy that is fenced off', 'egressProxy.url=http://proxy:1', 'networkPolicy.proxy.to must say'],
    ['an Ingress without a host', 'ingress.enabled=true', 'ingress.host must be set'],
    ['an Ingress that is not counted', 'ingress.enabled=true', 'api.trustProxy must count the Ingress'],
    [
      'fewer pods at most than at least',
      'api.autoscaling.maxReplicas=1',
      'api.autoscaling.maxReplicas must not be less',
    ],
    ['a variable twice', 'extraEnv[0].name=SECRETS_KEY', 'SECRETS_KEY must be set once for the worker'],
  ])('%s is refused with what to change', (_what, setting, sentence) => {
    expect(() => renderChart(oneServer, '--set', setting)).toThrow(sentence);
  });
});
