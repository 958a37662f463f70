import { findExecutable } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { document, resolve, type OperationObject, type Reference } from '../support/openapi-document.ts';

jest.setTimeout(900_000);

const ROOT = join(import.meta.dirname, '../..');
const READERS = join(ROOT, 'tests/fixtures/readers');
const ANSWERS = process.env.HERALD_TEST_ANSWERS;

type Schema = Readonly<Record<string, unknown>>;
const { schemas } = (document as unknown as { components: { schemas: Record<string, Schema> } }).components;

/** What a client gets, and where from. Of a webhook and of an error of many operations: without the operation. */
interface Answer {
  readonly schema: string;
  readonly operation?: string;
  readonly tag?: string;
  readonly status?: number;
  readonly value: unknown;
}

function toAnswer({ pointer, value }: { pointer: string; value: unknown }): Answer {
  const keys = pointer.slice(1).split('/');
  const node = keys.reduce<unknown>(
    (each, key) => (each as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  const schema = ((node as Partial<Reference>).$ref ?? pointer).split('/').at(-1) ?? '';
  const [part, path = '', method = '', , status] = keys;
  if (part !== 'paths') return { schema, value };
  const at = document.paths[path.replaceAll('~1', '/')]?.[method] as OperationObject & { tags: string[] };
  const tag = at.tags[0]?.toLowerCase().replaceAll(' ', '_') ?? '';
  return { schema, operation: at.operationId, tag, status: Number(status), value };
}

const NEW = 'value_of_tomorrow';

/** The value as a later version might answer it: with a field more in each object, and new values in the open lists. */
function ofTomorrow(node: unknown, value: unknown): unknown {
  const schema = resolve<Schema>(node as Schema | Reference, '').item;
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options)) {
    const fits = (each: unknown) => {
      const { type, required = [] } = resolve<Schema>(each as Schema | Reference, '').item;
      const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
      const isWhole = found !== 'object' || (required as string[]).every((name) => name in (value as object));
      return (type === found || (type === 'integer' && found === 'number')) && isWhole;
    };
    return ofTomorrow(options.find(fits) ?? {}, value);
  }
  if (schema['x-extensible-enum'] !== undefined && value !== null) return typeof value === 'number' ? 7 : NEW;
  if (Array.isArray(value)) return value.map((item) => ofTomorrow(schema.items ?? {}, item));
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return value;
  const properties = schema.properties as Record<string, unknown>;
  const fields = Object.entries(value).map(([name, each]) => [name, ofTomorrow(properties[name] ?? {}, each)]);
  return { ...(Object.fromEntries(fields) as object), fieldOfTomorrow: { a: [1] } };
}

/** Where what was read lacks something of what was sent; undefined: nowhere. */
function lossOf(sent: unknown, read: unknown, at = ''): string | undefined {
  if (sent === null || at.endsWith('/fieldOfTomorrow')) return undefined;
  if (typeof sent === 'string' && typeof read === 'string' && /^\d{4}-\d\d-\d\dT/.test(sent)) {
    return Date.parse(sent) === Date.parse(read) ? undefined : `${at}: ${sent} became ${read}`;
  }
  // Some read a number into a float of 32 bits.
  if (typeof sent === 'number' && typeof read === 'number' && Math.fround(sent) === Math.fround(read)) return undefined;
  if (typeof sent !== 'object')
    return sent === read ? undefined : `${at}: ${JSON.stringify(sent)} became ${JSON.stringify(read)}`;
  if (typeof read !== 'object' || read === null) return `${at} became ${JSON.stringify(read)}`;
  for (const [name, each] of Object.entries(sent)) {
    const loss = lossOf(each, (read as Record<string, unknown>)[name], `${at}/${name}`);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

const reader = (name: string) => join(READERS, name);
/** Without its option it takes what isn't said to be open for closed, other than OpenAPI has it. */
const openapiGenerator = (language: string, more = '') =>
  `openapi-generator-cli generate -q -i openapi.json -g ${language} -o . ${more} \
    -p disallowAdditionalPropertiesIfNotPresent=false \
    --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false >/dev/null`;

/** The reader for each schema, in Go. A union of oapi-codegen holds text, which is read as one of its schemas. */
function goReaders(names: readonly string[], isWithUnions: boolean): string {
  const readers = names.map((name) => {
    const [first] = (schemas[name]?.anyOf as Reference[] | undefined) ?? [];
    if (first === undefined || isWithUnions) return `"${name}": into[herald.${name}],`;
    const as = `As${first.$ref.split('/').at(-1) ?? ''}`;
    return `"${name}": func(value []byte) (any, error) {
      var union herald.${name}
      if err := json.Unmarshal(value, &union); err != nil { return nil, err }
      return union.${as}()
    },`;
  });
  const imports = `import (\n"encoding/json"\nherald "example.com/herald/client"\n)\nvar _ = json.Unmarshal\n`;
  return `package main\n${imports}var READERS = map[string]func([]byte) (any, error){\n${readers.join('\n')}\n}\n`;
}

/** Literals are held against types only for the fields that the types know when they come by a function. */
const TYPESCRIPT = `import type { components } from './herald';
type S = components['schemas'];
type Sent<T> = T extends object ? { -readonly [K in keyof T]: Sent<T[K]> } : T;
declare function sent<const T>(value: T): Sent<T>;
declare function read<T>(value: T): void;`;

interface Generator {
  readonly name: string;
  /** Programs that it needs on the PATH, and what puts them there. */
  readonly needs: readonly string[];
  readonly install: string;
  readonly version: string;
  /** Makes a client of `openapi.json` in an empty folder. */
  readonly make: string;
  /** Files that were made. */
  readonly made: string;
  /** Compiles it with the reader. */
  readonly compile: string;
  /** Reads answers; absent: compiling does. */
  readonly read?: string;
  readonly files?: (names: readonly string[], answers: readonly Answer[]) => Readonly<Record<string, string>>;
}

const JAVA = 'java, and `pip install openapi-generator-cli`';
const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-generator, Java',
    needs: ['openapi-generator-cli', 'mvn'],
    install: `${JAVA}, and Maven`,
    version: 'openapi-generator-cli version',
    make: openapiGenerator('java'),
    made: 'src/**/*.java',
    compile: `cp ${reader('Reader.java')} src/main/java/
      mvn -q -B compile dependency:build-classpath -Dmdep.outputFile=classpath`,
    read: 'java -cp target/classes:$(cat classpath) Reader',
  },
  {
    name: 'openapi-generator, Python',
    needs: ['openapi-generator-cli', 'python3'],
    install: `${JAVA} pydantic python-dateutil urllib3`,
    version: 'openapi-generator-cli version',
    // It makes files of the webhooks, too, which Python can't read and nothing imports.
    make: `${openapiGenerator('python')} && rm openapi_client/api/webhooks_api.py openapi_client/api/notices_api.py`,
    made: 'openapi_client/**/*.py',
    compile: 'python3 -m compileall -q openapi_client',
    read: `python3 ${reader('read.py')} openapi_generator`,
  },
  {
    name: 'openapi-generator, Go',
    needs: ['openapi-generator-cli', 'go'],
    install: `${JAVA}, and Go`,
    version: 'openapi-generator-cli version',
    // Without the prefix, two lists with the same value are two constants of one name.
    make: openapiGenerator(
      'go',
      '--git-host example.com --git-user-id herald --git-repo-id client -p packageName=herald,enumClassPrefix=true',
    ),
    made: '*.go',
    compile: `mkdir read && cp ${reader('main.go')} readers.go.txt read/ && mv read/readers.go.txt read/readers.go
      go mod tidy 2>/dev/null && go build ./... && go build -o reader ./read`,
    read: './reader',
    files: (names) => ({ 'readers.go.txt': goReaders(names, true) }),
  },
  {
    name: 'openapi-generator, C#',
    needs: ['openapi-generator-cli', 'dotnet'],
    install: `${JAVA}, and the SDK of .NET`,
    version: 'openapi-generator-cli version',
    make: openapiGenerator('csharp'),
    made: 'src/**/*.cs',
    compile: 'dotnet build -v q src/Org.OpenAPITools',
  },
  {
    name: 'oapi-codegen, Go',
    needs: ['oapi-codegen', 'go'],
    install: 'Go, and `go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2`',
    version: 'oapi-codegen -version | tail -1',
    make: `printf 'module example.com/herald\\n\\ngo 1.24\\n' >go.mod && mkdir client
      oapi-codegen -generate types,client,skip-prune -package herald -o client/herald.go openapi.json`,
    made: 'client/*.go',
    compile: `cp ${reader('main.go')} . && mv readers.go.txt readers.go
      go mod tidy 2>/dev/null && go build -o reader .`,
    read: './reader',
    files: (names) => ({ 'readers.go.txt': goReaders(names, false) }),
  },
  {
    name: 'openapi-python-client',
    needs: ['openapi-python-client'],
    install: '`pip install openapi-python-client`',
    version: 'openapi-python-client --version',
    make: 'openapi-python-client generate --path openapi.json --output-path herald --meta none --fail-on-warning',
    made: 'herald/**/*.py',
    compile: 'python3 -m compileall -q herald',
    read: `python3 ${reader('read.py')} openapi_python_client`,
  },
  {
    name: 'datamodel-code-generator',
    needs: ['datamodel-codegen'],
    install: '`pip install datamodel-code-generator`',
    version: 'datamodel-codegen --version',
    make: 'datamodel-codegen --input openapi.json --output models.py --output-model-type pydantic_v2.BaseModel 2>/dev/null',
    made: 'models.py',
    compile: 'python3 -m py_compile models.py',
    read: `python3 ${reader('read.py')} datamodel_code_generator`,
  },
  {
    name: 'openapi-typescript',
    needs: [],
    install: '',
    version: `node ${ROOT}/node_modules/openapi-typescript/bin/cli.js --version`,
    make: `node ${ROOT}/node_modules/openapi-typescript/bin/cli.js openapi.json -o herald.ts >/dev/null`,
    made: 'herald.ts',
    compile: `node ${ROOT}/node_modules/typescript-7/bin/tsc --noEmit --strict --target es2022 --types '' read.ts`,
    files: (_names, answers) => {
      const reads = answers.map(({ schema, value }) => `read<S['${schema}']>(sent(${JSON.stringify(value)}));`);
      return { 'read.ts': `${TYPESCRIPT}\n${reads.join('\n')}\n` };
    },
  },
];

describe('a client that is made of the document', () => {
  let answers: readonly Answer[];
  beforeAll(() => {
    if (ANSWERS === undefined || !existsSync(ANSWERS)) {
      throw new Error('HERALD_TEST_ANSWERS must name what end-to-end tests have written: docs/testing.md says how');
    }
    const lines = new Set(readFileSync(ANSWERS, 'utf8').trim().split('\n'));
    answers = [...lines].map((line) => toAnswer(JSON.parse(line) as Parameters<typeof toAnswer>[0]));
  });

  for (const generator of GENERATORS) {
    const missing = generator.needs.find((program) => findExecutable(program) === undefined);
    if (missing === undefined) {
      test(`${generator.name} reads every answer, also of a later version`, async () => {
        expect(await findLosses(generator, answers)).toEqual([]);
      });
    } else {
      test.todo(`${generator.name}: not tried, as ${missing} is not on the PATH. It needs ${generator.install}`);
    }
  }
});

/** What each says of the document, as names of rules. */
const LINTERS: readonly { program: string; install: string; script: string; known: readonly string[] }[] = [
  {
    program: 'redocly',
    install: 'npm install -g @redocly/cli',
    script: `redocly lint openapi.json --extends recommended-strict --format json >found.json 2>/dev/null || true
      grep -q '"totals"' found.json
      grep -o '"ruleId": "[^"]*"' found.json || true`,
    known: [],
  },
  {
    program: 'spectral',
    install: 'npm install -g @stoplight/spectral-cli',
    // Since 3.1 the scopes of a scheme of any type may be named, and the rule knows only those of OAuth.
    script: `printf 'extends: ["spectral:oas"]\nrules: {oas3-operation-security-defined: off}\n' >rules.yaml
      spectral lint openapi.json -r rules.yaml -f text -q | grep -v 'No results' | grep -oE '(error|warning) [a-z0-9-]+' || true`,
    // Whom to ask is another for each service.
    known: ['warning info-contact'],
  },
];

describe('the document', () => {
  for (const { program, install, script, known } of LINTERS) {
    if (findExecutable(program) === undefined) {
      test.todo(`${program} is not asked about it, as it is not on the PATH: \`${install}\``);
      continue;
    }
    test(`${program} finds nothing in it but what is known`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'herald-linters-'));
      await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
      const { status, stdout, stderr } = spawnSync('sh', ['-euc', script], { cwd: folder, encoding: 'utf8' });
      await rm(folder, { recursive: true });
      expect({ status, stderr, found: stdout.split('\n').filter(Boolean) }).toEqual({
        status: 0,
        stderr: '',
        found: known,
      });
    });
  }
});

/** Makes the client, lets it read all, and tells what it couldn't read or lost. */
async function findLosses(generator: Generator, answers: readonly Answer[]): Promise<string[]> {
  const { name, version, make, made, compile, read, files } = generator;
  const folder = await mkdtemp(join(tmpdir(), 'herald-generators-'));
  const run = (script: string, input = '') => {
    const env = { ...process.env, PYTHONPATH: folder };
    const options = { cwd: folder, env, input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
    const { status, stdout, stderr } = spawnSync('sh', ['-euc', script], options);
    if (status === 0) return stdout;
    throw new Error(`${name} ended with ${String(status)}: ${script}\n${stdout}${stderr}`.slice(0, 5_000));
  };
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
    run(make);
    const sources = globSync(made, { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
    const later = answers.map((each) => ({ ...each, value: ofTomorrow(schemas[each.schema], each.value) }));
    const all = [...answers, ...later];
    const names = [...new Set(answers.map(({ schema }) => schema))];
    for (const [file, text] of Object.entries(files?.(names, all) ?? {})) await writeFile(join(folder, file), text);
    run(compile);
    const lines = sources.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
    const said = run(version).trim().split(/[ v]/).at(-1) ?? '';
    process.stderr.write(`${name} ${said}: ${sources.length} files, ${lines} lines, ${all.length} answers\n`);
    if (read === undefined) return [];
    const printed = run(read, all.map((each) => `${JSON.stringify(each)}\n`).join(''))
      .trim()
      .split('\n');
    const losses = all.flatMap(({ schema, value }, index) => {
      const result = JSON.parse(printed[index] ?? '{}') as { read?: unknown; error?: string };
      const loss = result.error ?? lossOf(value, result.read);
      return loss === undefined ? [] : [`${index < answers.length ? '' : 'later: '}${schema}${loss}`.slice(0, 300)];
    });
    return [...new Set(losses)];
  } finally {
    await rm(folder, { recursive: true });
  }
}
