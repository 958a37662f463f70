import { createDocument, type oas31, type ZodOpenApiPathItemObject } from 'zod-openapi';
import { DELIVERY_ROUTES } from '../deliveries/delivery-routes.ts';
import { HEALTH_ROUTES } from '../health/health-routes.ts';
import { AnsweredProblem } from '../http/problem.ts';
import { RECEIVER_ROUTES } from '../receivers/receiver-routes.ts';
import { REPLAY_ROUTES } from '../replays/replay-routes.ts';
import type { RouteTable } from '../routing/operation.ts';
import { TASK_ROUTES } from '../tasks/task-routes.ts';
import { TRANSITION_ROUTES } from '../tasks/transition-routes.ts';
import { describeOperation } from './describe-operation.ts';
import { HEADERS } from './headers.ts';
import { sharedProblemResponses } from './problem-responses.ts';
import { describeWebhooks } from './webhooks.ts';

export type OpenApiDocument = oas31.OpenAPIObject;

const DESCRIPTION = `
Herald delivers signed webhooks for Task transitions.

Requests carry \`Authorization: Bearer <API key>\`. Bodies are JSON; a field that is not named here is an error, never ignored.
A query holds the parameters of its operation, each once; the pages under Health pass over whatever else it holds.
Errors are problem details (RFC 9457) with a stable \`code\`. What belongs to another workspace is not found, never forbidden.

A number in a body must read back as it was sent, as a double (IEEE 754) does. A whole number keeps its value: all do up to 2^53, and few
beyond. One with a point or an exponent may have 15 digits, or more if all are those of a double, as in 0.30000000000000004. Every other,
such as 9007199254740993, 12345678901234567.89, 1e400 or 1e-400, is \`validation_failed\`: send it as a string.

Fields may be added to answers and to webhooks; ignore those you don't know.
`;

const IDEMPOTENCY_KEY_PARAMETER: oas31.ParameterObject = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'Repeating a request with its key and body has its effect once, for 24 hours. Counts for one API key and path. The repeated answer leaves the secret out.',
  schema: { type: 'string', minLength: 1, maxLength: 512, examples: ['5f0c6f9a-31d8-4f6c-9f2e-0c1d7a1b2c3d'] },
};

const TABLES: readonly RouteTable<never>[] = [
  RECEIVER_ROUTES,
  DELIVERY_ROUTES,
  REPLAY_ROUTES,
  TASK_ROUTES,
  TRANSITION_ROUTES,
  HEALTH_ROUTES,
];

/** The OpenAPI 3.1 document of this API. The schemas in it also parse requests and type answers. */
export function createOpenApiDocument(): OpenApiDocument {
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Herald',
        version: '0.1.0',
        description: DESCRIPTION.trim(),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'Receivers', description: 'Urls of the workspace to which events are sent.' },
        { name: 'Deliveries', description: 'What was sent, what came of it, and how to send it again.' },
        { name: 'Tasks', description: "What a customer does with the workspace's Tasks." },
        { name: 'Executors', description: 'What the programs that run Tasks report and read.' },
        { name: 'Health', description: 'For those who run Herald. No key is needed.' },
        { name: 'Webhooks', description: 'What Herald sends to receivers and callbacks.' },
        {
          name: 'Notices',
          description:
            'What Herald tells the platform that runs it, where `NOTICE_URL` is set: signed, sent and tried again as webhooks are. No receiver gets these.',
        },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, `hrld_…`, of a workspace or an executor.',
          },
        },
        schemas: { Problem: AnsweredProblem },
        headers: HEADERS,
        parameters: { 'Idempotency-Key': IDEMPOTENCY_KEY_PARAMETER },
        responses: sharedProblemResponses(),
      },
      paths: Object.fromEntries(TABLES.flatMap(describePaths)),
      webhooks: describeWebhooks(),
    },
    {
      override({ jsonSchema }) {
        // The pattern of a date-time says nothing that its format doesn't, at great length.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      },
    },
  );
  return document as OpenApiDocument;
}

function describePaths(table: RouteTable<never>): [path: string, ZodOpenApiPathItemObject][] {
  const byPath = Map.groupBy(table.operations, ({ path }) => path);
  return [...byPath].map(([path, operations]) => [
    path === '/' ? table.path : table.path + path,
    Object.fromEntries(operations.map((each) => [each.method, describeOperation(each, table)])),
  ]);
}
