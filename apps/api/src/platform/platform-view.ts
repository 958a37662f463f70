import { ApiKeyIdText, plainText, WorkspaceIdText } from '@herald/core';
import { type ApiKey, judgeScopes } from '@herald/store/access/api-key-store';
import type { Binding } from '@herald/store/access/binding-store';
import { z } from 'zod';
import { ShownOnce, TimeText, toTime } from '../http/answer-fields.ts';

/** What a key of a workspace may do. */
const WorkspaceScope = z.enum(['webhooks', 'tasks', 'approvals:any']).meta({ id: 'WorkspaceScope' });

/** The longest life of a key, in seconds: ten years. */
const LONGEST_S = 315_360_000;

/** Body of `POST /api/platform/workspaces/{workspaceId}/keys`. */
export const CreateWorkspaceKey = z
  .strictObject({
    scopes: z
      .array(WorkspaceScope)
      .min(1, 'must have at least one scope, or be left out for webhooks and tasks')
      .max(3)
      .superRefine((scopes, context) => {
        const message = judgeScopes(scopes);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .default(['webhooks', 'tasks'])
      .meta({
        description: 'Default: `webhooks` and `tasks`. `approvals:any` adds to `tasks`, and is refused without.',
      }),
    name: z
      .string()
      .min(1)
      .max(64)
      .refine((name) => name === plainText(name).trim(), 'must be on one line, without blanks around it')
      .meta({ description: 'What it is for. Shown in lists.', examples: ['billing, production'] })
      .exactOptional(),
    expiresInSeconds: z
      .int()
      .min(60)
      .max(LONGEST_S)
      .meta({ description: 'How long it works. Without it, until it is revoked.' })
      .exactOptional(),
  })
  .meta({ id: 'CreateWorkspaceKey' });
export type CreateWorkspaceKey = z.infer<typeof CreateWorkspaceKey>;

const KEY_EXAMPLE = {
  id: 'key_0123456789abcdef',
  workspaceId: 'ws_acme',
  scopes: ['webhooks', 'tasks'],
  name: 'billing, production',
  createdAt: '2030-01-31T12:00:00.000Z',
  expiresAt: null,
  lastUsedAt: null,
};

/** A key of a workspace: never the key itself. */
const WorkspaceKeyView = z
  .strictObject({
    id: ApiKeyIdText,
    workspaceId: WorkspaceIdText,
    scopes: z.array(WorkspaceScope),
    name: z.string().nullable(),
    createdAt: TimeText,
    expiresAt: TimeText.nullable().meta({ description: 'Null: it works until it is revoked.' }),
    lastUsedAt: TimeText.nullable().meta({ description: 'About a minute behind at most. Null before the first use.' }),
  })
  .meta({ id: 'WorkspaceKey', description: 'An API key of a workspace.', examples: [KEY_EXAMPLE] });

const CreatedWorkspaceKey = z
  .strictObject({
    ...WorkspaceKeyView.shape,
    key: z.string().meta({ description: 'The key itself, shown only in this answer.' }),
  })
  .meta({
    id: 'CreatedWorkspaceKey',
    description: 'A new key. It is shown only in this answer.',
    examples: [{ ...KEY_EXAMPLE, key: 'hrld_0123456789abcdef_7tVQn0yJxk3LbM9cWf2RzD6sHgA8pE1uXaBcDe' }],
  });

export const WorkspaceKeyCreation = ShownOnce('WorkspaceKeyCreation', CreatedWorkspaceKey, WorkspaceKeyView);

export const WorkspaceKeyList = z
  .strictObject({ keys: z.array(WorkspaceKeyView) })
  .meta({ id: 'WorkspaceKeyList', examples: [{ keys: [KEY_EXAMPLE] }] });

export const WorkspaceKeyRevoked = z.strictObject({ deleted: z.boolean() }).meta({ id: 'WorkspaceKeyRevoked' });

export function toWorkspaceKeyView({ id, workspaceId = '', createdAt, ...key }: ApiKey) {
  return {
    id,
    workspaceId,
    scopes: WorkspaceScope.options.filter((scope) => key.scopes.includes(scope)),
    name: key.name ?? null,
    createdAt: toTime(createdAt),
    expiresAt: key.expiresAt === undefined ? null : toTime(key.expiresAt),
    lastUsedAt: key.lastUsedAt === undefined ? null : toTime(key.lastUsedAt),
  };
}

/** Body of `POST /api/platform/workspaces/{workspaceId}/execution-workspaces`. */
export const BindExecutionWorkspace = z
  .strictObject({ executionWorkspaceId: WorkspaceIdText })
  .meta({ id: 'BindExecutionWorkspace', examples: [{ executionWorkspaceId: 'ws_acme-runs' }] });

const BINDING_EXAMPLE = { executionWorkspaceId: 'ws_acme-runs', boundAt: '2030-01-31T12:00:00.000Z' };

export const BindingView = z.strictObject({ executionWorkspaceId: WorkspaceIdText, boundAt: TimeText }).meta({
  id: 'Binding',
  description: 'A workspace in which Tasks of another may run.',
  examples: [BINDING_EXAMPLE],
});

export const BindingList = z
  .strictObject({ executionWorkspaces: z.array(BindingView) })
  .meta({ id: 'BindingList', examples: [{ executionWorkspaces: [BINDING_EXAMPLE] }] });

export const BindingEnded = z.strictObject({ deleted: z.boolean() }).meta({ id: 'BindingEnded' });

export function toBindingView({ executionWorkspaceId, boundAt }: Binding): z.infer<typeof BindingView> {
  return { executionWorkspaceId, boundAt: toTime(boundAt) };
}

/** The answer to an erasure. */
export const WorkspaceErasure = z
  .strictObject({
    workspaceId: WorkspaceIdText,
    erased: z.boolean().meta({ description: 'False: there is more to erase. Repeat the request until it is true.' }),
    tasks: z.int().min(0).meta({ description: 'How many Tasks this request erased.' }),
  })
  .meta({ id: 'WorkspaceErasure', examples: [{ workspaceId: 'ws_acme', erased: true, tasks: 1_204 }] });
export type WorkspaceErasure = z.infer<typeof WorkspaceErasure>;
