/**
 * What the chart uses of the Prometheus Operator's two kinds. The Kubernetes schemas don't have them, and the operator
 * publishes its own only inside of its manifests.
 */
const text = { type: 'string', minLength: 1 };
const texts = { type: 'object', additionalProperties: text };
const strict = (properties: object, ...required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  required: required.length > 0 ? required : Object.keys(properties),
  properties,
});
const ofKind = (kind: string, spec: object) =>
  strict({
    apiVersion: { const: 'monitoring.coreos.com/v1' },
    kind: { const: kind },
    metadata: strict({ name: text, labels: texts }),
    spec,
  });
const listOf = (items: object) => ({ type: 'array', minItems: 1, items });
const secretKey = strict({ name: text, key: text });
const duration = { type: 'string', pattern: '^\\d+(ms|s|m|h)$' };

export const CRD_SCHEMAS: Readonly<Record<string, object>> = {
  ServiceMonitor: ofKind(
    'ServiceMonitor',
    strict({
      selector: strict({ matchLabels: texts }),
      endpoints: listOf(
        strict(
          {
            port: text,
            path: text,
            interval: duration,
            relabelings: listOf(strict({ targetLabel: text, replacement: text })),
            authorization: strict({ credentials: secretKey }),
            basicAuth: strict({ username: secretKey, password: secretKey }),
          },
          'port',
        ),
      ),
    }),
  ),
  PrometheusRule: ofKind(
    'PrometheusRule',
    strict({
      groups: listOf(
        strict({
          name: text,
          rules: listOf(strict({ alert: text, expr: text, for: duration, labels: texts, annotations: texts })),
        }),
      ),
    }),
  ),
};
