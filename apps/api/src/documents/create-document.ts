import {
  DEFAULT_DELIVERY_TIMEOUT_MS,
  type DeliveryEvent,
  DeliveryIdText,
  EVENT_NAMES,
  NOTICE_EVENTS,
  NOTICE_PAYLOADS,
  openValues,
  TaskEventName,
  WEBHOOK_PAYLOADS,
} from '@herald/core';
import { VERSION } from '@herald/runtime/version';
import { z } from 'zod';
import { createDocument, type oas31, type ZodOpenApiPathItemObject, type ZodOpenApiResponsesObject } from 'zod-openapi';
import { ACTIVITY_ROUTES, STATS_ROUTES } from '../deliveries/stats.ts';
import { DELIVERY_ROUTES } from '../deliveries/delivery-routes.ts';
import { HEALTH_ROUTES } from '../http/health-routes.ts';
import type { RouteTable } from '../http/operation.ts';
import { LISTEN_ROUTES } from '../listening/listen-routes.ts';
import { OPERATOR_ROUTES } from '../operators/operator-routes.ts';
import { PLATFORM_ROUTES } from '../platform/platform-routes.ts';
import { ACCESS_ROUTES, PORTAL_LINK_ROUTES } from '../portal-links/portal-link-routes.ts';
import { LOCK_ROUTES, RECEIVER_ROUTES } from '../receivers/receiver-routes.ts';
import { REPLAY_ROUTES } from '../deliveries/replays.ts';
import { TASK_ROUTES } from '../tasks/task-routes.ts';
import { TRANSITION_ROUTES } from '../tasks/transition-routes.ts';
import { describeOperation, HEADERS, sharedProblemResponses } from './describe-operation.ts';
import { PAGE_ROUTES } from './pages.ts';

export type OpenApiDocument = oas31.OpenAPIObject;

const DESCRIPTION = `
Herald delivers signed webhooks for Task transitions. Read [how to receive them](/docs/receiving), and
[what each error code means](/errors).

Requests carry \`Authorization: Bearer <API key>\`, or the token of a portal link. Bodies are JSON. A field that is not named here is an error, never ignored.
A query holds the parameters of its operation, each once. Health pages ignore other parameters.
Errors are problem details (RFC 9457) with a stable \`code\`. Objects of another workspace are not found (404, never 403).

A number in a body must read back as it was sent, as a double (IEEE 754). A whole number keeps its value up to 2^53, and rarely
beyond. A number with a point or an exponent may have 15 digits, or more if a double prints that way, as 0.30000000000000004 does.
Any other number, such as 9007199254740993, 12345678901234567.89, 1e400 or 1e-400, is \`validation_failed\`. Send it as a string.

Whoever runs this service may send webhooks from fixed addresses, through a proxy of their own: ask them for these.

Fields may be added to answers and to webhooks, and values to the lists of codes, reasons, statuses and events in them
(\`x-extensible-enum\`). Ignore fields that you don't know, and treat a value that you don't know like the general case.
Any request can also be answered with \`method_not_allowed\` (405, \`Allow\` names the methods of the path),
\`request_timeout\` (408) or \`headers_too_large\` (431).
`;

const IDEMPOTENCY_KEY_PARAMETER: oas31.ParameterObject = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out.',
  schema: { type: 'string', minLength: 1, maxLength: 512, examples: ['5f0c6f9a-31d8-4f6c-9f2e-0c1d7a1b2c3d'] },
};

const IF_MATCH_PARAMETER: oas31.ParameterObject = {
  in: 'header',
  name: 'If-Match',
  required: false,
  description:
    'The `ETag` of an answer, or several, with commas between. If the receiver has been changed since, the request is refused with 412 and changes nothing. `*`: as without the header.',
  schema: { type: 'string', examples: ['"5f0c6f9a31d84f6c9f2e0c1d7a1b2c3d5e6f7a8b"'] },
};

/** Of the operators' port, where there is one. */
const OPERATORS_DESCRIPTION = `
What operators read of Herald. The operations of customers and executors are described at their own port.

Requests carry \`Authorization: Basic\` with \`OPERATOR_USER\` and \`OPERATOR_PASSWORD\`; health pages need nothing.
Errors are problem details (RFC 9457) with a stable \`code\`. Fields may be added to answers. Ignore those that you don't know.
`;

/** Which operations a document describes. `all`: those of one port for everybody. */
export type DocumentPart = 'all' | 'customers' | 'operators';

const TABLES: readonly RouteTable<never>[] = [
  RECEIVER_ROUTES,
  LOCK_ROUTES,
  DELIVERY_ROUTES,
  REPLAY_ROUTES,
  STATS_ROUTES,
  ACTIVITY_ROUTES,
  LISTEN_ROUTES,
  TASK_ROUTES,
  TRANSITION_ROUTES,
  HEALTH_ROUTES,
  PAGE_ROUTES,
  PORTAL_LINK_ROUTES,
  ACCESS_ROUTES,
  PLATFORM_ROUTES,
  OPERATOR_ROUTES,
];
const TABLES_OF: Readonly<Record<DocumentPart, readonly RouteTable<never>[]>> = {
  all: TABLES,
  customers: TABLES.filter((table) => table !== OPERATOR_ROUTES),
  operators: [HEALTH_ROUTES, OPERATOR_ROUTES],
};

const CUSTOMER_SCHEMES: Readonly<Record<string, oas31.SecuritySchemeObject>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `hrld_…`, of a workspace, an executor or a platform.',
  },
  portalLink: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a portal link, `hrlp_…`.',
  },
  operatorLink: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a portal link that an operator made (`openWorkspace`).',
  },
};
const OPERATOR_SCHEMES: typeof CUSTOMER_SCHEMES = {
  operator: {
    type: 'http',
    scheme: 'basic',
    description: '`OPERATOR_USER` and `OPERATOR_PASSWORD`. A change must come from a page of this origin.',
  },
};

/** A document that is served can't know how it is reached: a proxy may be before it. */
const SERVER: oas31.ServerObject = {
  url: '{origin}',
  variables: {
    origin: {
      default: 'http://127.0.0.1:8080',
      description: 'Scheme, host and port under which you reach the service, such as `https://herald.example.com`.',
    },
  },
};

const WEBHOOK_TAGS = ['Webhooks', 'Notices'];

/** The OpenAPI 3.1 document of this API. The schemas in it also parse requests and type answers. */
export function createOpenApiDocument(part: DocumentPart = 'all'): OpenApiDocument {
  const tables = TABLES_OF[part];
  const isForCustomers = part !== 'operators';
  const tags = new Set([...tables.map(({ tag }) => tag), ...(isForCustomers ? WEBHOOK_TAGS : [])]);
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Herald',
        version: VERSION,
        description: (isForCustomers ? DESCRIPTION : OPERATORS_DESCRIPTION).trim(),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [SERVER],
      tags: [
        { name: 'Receivers', description: 'URLs to which Herald sends the events of a workspace.' },
        { name: 'Deliveries', description: 'Read deliveries and their attempts, and send them again.' },
        { name: 'Tasks', description: 'Operations on the Tasks of a workspace.' },
        { name: 'Executors', description: 'Reports and reads for the programs that run Tasks.' },
        { name: 'Console', description: 'Links that let people into the console.' },
        {
          name: 'Platform',
          description:
            'Keys, portal links and Tasks of any workspace, and its erasure, for the platform whose customers have workspaces.',
        },
        { name: 'Operators', description: 'The whole service, for those who run it. Absent without `OPERATOR_USER`.' },
        { name: 'Health', description: 'For operators. No key is needed.' },
        { name: 'Documents', description: 'What the API says about itself. No key is needed.' },
        { name: 'Webhooks', description: 'Requests that Herald sends to receivers and callbacks.' },
        {
          name: 'Notices',
          description:
            'Requests that Herald sends to `NOTICE_URL`, if it is set. They are signed, sent and retried as webhooks are. No receiver gets them.',
        },
      ].filter(({ name }) => tags.has(name)),
      components: {
        securitySchemes: {
          ...(isForCustomers && CUSTOMER_SCHEMES),
          ...(part !== 'customers' && OPERATOR_SCHEMES),
        },
        headers: HEADERS,
        ...(isForCustomers && {
          parameters: { 'Idempotency-Key': IDEMPOTENCY_KEY_PARAMETER, 'If-Match': IF_MATCH_PARAMETER },
        }),
        responses: sharedProblemResponses(),
      },
      paths: Object.fromEntries(tables.flatMap(describePaths)),
      ...(isForCustomers && { webhooks: describeWebhooks() }),
    },
    {
      outputIdSuffix: 'InAnswer',
      override({ jsonSchema, io }) {
        // The pattern of a date-time says nothing that its format doesn't, at great length.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
        if (io === 'output') openAnswer(jsonSchema);
      },
    },
  );
  for (const item of Object.values(document.paths ?? {})) {
    for (const { parameters = [] } of Object.values(item) as oas31.OperationObject[])
      parameters.forEach(sayAtParameter);
  }
  return document as OpenApiDocument;
}

/** Generators look for both at the parameter, not at its schema. */
function sayAtParameter(parameter: oas31.ParameterObject | oas31.ReferenceObject): void {
  if (!('schema' in parameter)) return;
  const { deprecated, description } = parameter.schema as oas31.SchemaObject;
  if (deprecated === true) parameter.deprecated = true;
  if (description !== undefined) parameter.description ??= description;
}

/** A later version may add fields, and values of a list, to an answer. What a caller sends is as it is here. */
function openAnswer(jsonSchema: Record<string, unknown>): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if ('enum' in jsonSchema || 'const' in jsonSchema) openValues(jsonSchema);
}

function describePaths(table: RouteTable<never>): [path: string, ZodOpenApiPathItemObject][] {
  const byPath = Map.groupBy(table.operations, ({ path }) => path);
  return [...byPath].map(([path, operations]) => [
    (table.path + path).replace(/(?<=.)\/$/, ''),
    Object.fromEntries(operations.map((each) => [each.method, describeOperation(each, table)])),
  ]);
}

/** When each event is emitted. */
export const EVENT_MEANINGS: Readonly<Record<DeliveryEvent, string>> = {
  'task.check_in': 'A Task reached a material canonical checkpoint.',
  'task.requires_action': 'A Task needs an approval or a decision.',
  'task.done': 'A Task is done. Read its result with `GET /tasks/{id}`.',
  'task.canceled': 'A Task was canceled.',
  'webhook.test': 'The test operation was called.',
  'receiver.failing': 'A receiver has failed for an hour without a success. Sent once, until it recovers.',
  'receiver.disabled': 'Herald disabled a receiver.',
  'receiver.recovered': 'A receiver that was reported as failing or disabled succeeded again.',
  'callback.disabled': "Herald disabled a Task's callback.",
};

const isTaskEvent = (event: DeliveryEvent) => TaskEventName.safeParse(event).success;

const PAYLOADS = { ...WEBHOOK_PAYLOADS, ...NOTICE_PAYLOADS };

/** The headers of a delivery of this event. */
export const headersOf = (event: DeliveryEvent) =>
  z.object({
    'x-service-event': z.literal(event).meta({ description: 'The event.' }),
    'x-service-signature': z
      .string()
      .regex(/^sha256=[0-9a-f]{64}$/)
      .meta({
        description:
          '`sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time.',
      }),
    'x-service-delivery': DeliveryIdText.meta({
      description: 'Id of the delivery, the same on every try. Ignore a delivery that you have processed.',
    }),
    'webhook-id': DeliveryIdText.meta({ description: 'The same id, for Standard Webhooks.' }),
    'webhook-timestamp': z
      .string()
      .regex(/^\d{10,}$/)
      .meta({ description: 'When this attempt was made, in seconds since 1970.' }),
    'webhook-signature': z
      .string()
      .regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/)
      .meta({
        description:
          '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space.',
      }),
    ...(event !== 'webhook.test' && {
      'x-service-sample': z
        .literal('true')
        .meta({
          description:
            'Only on a sample, which the test operation sends: its Task does not exist. The signature does not cover this header; the id of the Task in the body starts with `task_sample`.',
        })
        .exactOptional(),
    }),
    ...(isTaskEvent(event) && {
      'x-service-ordering': z
        .literal('released')
        .meta({
          description:
            'Only with `ordering: "task"`: this event did not wait for an earlier one of its Task, because the timeout passed or somebody asked for this delivery.',
        })
        .exactOptional(),
    }),
    'content-type': z.literal('application/json'),
    'user-agent': z.string().regex(/^Herald\//),
  });

const TO_ENDPOINTS = {
  tag: 'Webhooks',
  responses: { '410': { description: 'The endpoint is gone. Herald disables it.' } },
};
const TO_THE_PLATFORM = { tag: 'Notices', responses: {} };

/** Describes the requests that Herald sends: to receivers and callbacks, and to the platform, by event. */
function describeWebhooks(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries([
    ...EVENT_NAMES.map((event) => [event, describeWebhook(event, TO_ENDPOINTS)] as const),
    ...NOTICE_EVENTS.map((event) => [event, describeWebhook(event, TO_THE_PLATFORM)] as const),
  ]);
}

function describeWebhook(
  event: DeliveryEvent,
  { tag, responses }: { readonly tag: string; readonly responses: ZodOpenApiResponsesObject },
): ZodOpenApiPathItemObject {
  return {
    post: {
      operationId: `on${event.replaceAll(/(?:^|[._])(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
      tags: [tag],
      summary: EVENT_MEANINGS[event],
      security: [],
      requestParams: { header: headersOf(event) },
      requestBody: {
        required: true,
        description:
          'The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`.',
        content: { 'application/json': { schema: PAYLOADS[event] } },
      },
      responses: {
        '2XX': {
          description: `Delivered. Answer within ${durationText(DEFAULT_DELIVERY_TIMEOUT_MS)}, and do the work afterwards.`,
        },
        ...responses,
        '429': { description: 'Retried later. `Retry-After` pauses all deliveries to this host.' },
        '503': { description: 'Retried later. `Retry-After` pauses all deliveries to this host.' },
        default: { description: 'Retried on the schedule. A redirect is a failure too.' },
      },
    },
  };
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A duration for people, such as `5 minutes`, in the largest unit of which it is a whole number. */
export function durationText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms % each === 0) ?? UNITS[3];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(ms / unitMs);
}
