import { createOpenApiDocument } from '../../apps/api/src/documents/create-document.ts';

/** A JSON schema, as far as the pages show it. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  /** The values that this version knows. */
  readonly 'x-extensible-enum'?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
};

export type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export type Response = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
  readonly 'x-problem-codes'?: readonly string[];
};

export type OperationObject = {
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly $ref?: string;
    readonly in?: string;
    readonly name?: string;
    readonly required?: boolean;
    readonly schema?: Schema;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};

type Paths = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

export type ReadDocument = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly webhooks: Paths;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** The OpenAPI document as its readers get it. */
export const readOpenApiDocument = () => JSON.parse(JSON.stringify(createOpenApiDocument())) as ReadDocument;

/** The last part of a reference such as `#/components/schemas/Receiver`. */
export const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
