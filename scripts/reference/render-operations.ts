import {
  nameOf,
  readOpenApiDocument,
  type OperationObject,
  type ReadDocument,
  type Response,
  type Schema,
} from './openapi.ts';
import { createSchemaRenderer } from './render-schema.ts';
import { renderTable } from './render-table.ts';

/** Codes that operations share by their form; the page explains them once. */
const SHARED = {
  'every operation': ['malformed_request'],
  'every operation with a key': [
    'validation_failed',
    'unauthenticated',
    'insufficient_scope',
    'rate_limited',
    'internal',
    'unavailable',
  ],
  'every operation with an id in its path': ['route_not_found'],
  'every operation with a body': ['invalid_json', 'payload_too_large', 'unsupported_media_type'],
  'every POST, PATCH and DELETE': ['precondition_failed'],
  'every POST with a key': ['idempotency_conflict', 'request_in_progress'],
  'every change by an operator': ['foreign_origin'],
} as const;
const SHARED_CODES: readonly string[] = Object.values(SHARED).flat();

type Entry = { readonly method: string; readonly path: string; readonly operation: OperationObject };

const codeText = (codes: readonly string[]) => codes.map((code) => `\`${code}\``).join(', ');
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const entriesOf = (paths: ReadDocument['paths']): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** `docs/http-operations.md`, before its lines are wrapped. */
export function renderOperations(): string {
  const document = readOpenApiDocument();
  const schemas = createSchemaRenderer(document);
  const operations = entriesOf(document.paths);
  const webhooks = entriesOf(document.webhooks);

  const renderOperation = ({ method, path, operation }: Entry) => {
    const [status, answer] = Object.entries(operation.responses)[0] ?? [];
    const own = Object.values(operation.responses)
      .flatMap(codesOf)
      .filter((code) => !SHARED_CODES.includes(code));
    return [
      `### ${operation.summary}`,
      `\`${method} ${path}\`${operation.deprecated ? ' (deprecated)' : ''}`,
      operation.description,
      renderQuery(operation),
      renderBody(operation.requestBody?.content['application/json']?.schema),
      `**Answer** ${status ?? ''}: ${answerText(answer)}`,
      own.length > 0 && `**Errors** of its own: ${codeText(own)}.`,
    ]
      .filter((part) => part !== undefined && part !== '' && part !== false)
      .join('\n\n');
  };

  const renderQuery = ({ parameters = [] }: OperationObject) => {
    const rows = parameters
      .filter((each) => each.in === 'query')
      .map(({ name = '', required, schema = {}, description }) => [
        `\`${name}\`${required === true ? '' : '?'}`,
        schemas.typeText(schema),
        `${description ?? schemas.meaning(schema)}${schemas.usualText(schema)}`,
      ]);
    return rows.length > 0 && renderTable(['query', 'type', 'meaning'], rows);
  };

  const renderBody = (schema: Schema | undefined) => schema && `**Body**: ${schemas.typeText(schema)}.`;

  const answerText = (answer: Response | undefined) => {
    const schema = answer?.content?.['application/json']?.schema;
    return `${answer?.description ?? ''}${schema ? ` ${schemas.typeText(schema)}.` : ''}`;
  };

  const tags = document.tags.filter(({ name }) => operations.some(({ operation }) => operation.tags.includes(name)));
  const sections = tags.map(({ name, description }) => {
    const some = operations.filter(({ operation }) => operation.tags.includes(name));
    return [`## ${name}`, description, ...some.map(renderOperation)].join('\n\n');
  });

  return `# HTTP operations

Every operation of the API, the requests that Herald sends, and the objects in both. [http.md](http.md) has the rules that
they share. A running service shows the same as \`GET /openapi.json\`, and as a page at \`GET /docs\`, where you can try an
operation with a key that you paste. A \`?\` marks what may be absent.

${renderTable(
  ['operation', 'request', 'needs'],
  operations.map(({ method, path, operation }) => [
    `[${operation.summary}](#${anchorOf(operation.summary)})`,
    `\`${method} ${path}\``,
    needsText(operation),
  ]),
)}

These [codes](errors.md) are not listed again below:

${Object.entries(SHARED)
  .map(([which, codes]) => `- ${which}: ${codeText(codes)}`)
  .join('\n')}

${sections.join('\n\n')}

## Webhooks and notices

Requests that Herald sends: webhooks to receivers and callbacks, notices to the platform. [receiving.md](receiving.md) and
[notices.md](notices.md) explain them.

${renderTable(
  ['event', 'when', 'body'],
  webhooks.map(({ path, operation }) => [
    `\`${path}\``,
    operation.summary,
    schemas.typeText(operation.requestBody?.content['application/json']?.schema ?? {}),
  ]),
)}

## Objects

${schemas.objectNames.map(schemas.renderObject).join('\n\n')}

\`npm run docs:reference\` makes this page from the tables of operations in \`apps/api/src\`.
`;
}

function needsText({ security = [] }: OperationObject): string {
  const texts = security.map((each) => {
    if (each.apiKey) return each.apiKey[0] === undefined ? 'any key of a workspace' : `\`${each.apiKey[0]}\``;
    if (each.operatorLink) return 'link of an operator';
    return each.operator ? 'operator' : 'portal link';
  });
  return texts.length === 0 ? 'nothing' : texts.join(' or ');
}

/** The problem codes of a response. That of other statuses belongs to no operation. */
function codesOf({ $ref, 'x-problem-codes': codes = [] }: Response): readonly string[] {
  if ($ref === undefined) return codes;
  return nameOf($ref) === 'problem' ? [] : [nameOf($ref)];
}
