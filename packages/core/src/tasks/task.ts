import { z } from 'zod';
import type { EventName } from '../events.ts';
import { TaskCallback } from '../endpoints/endpoint.ts';
import type { EndpointOrdering } from '../endpoints/ordering.ts';
import { ID_PATTERNS, type TaskId, type WorkspaceId } from '../ids/ids.ts';
import { TypedText } from '../text.ts';

export const TASK_STATUSES = ['queued', 'running', 'requires_action', 'done', 'canceled'] as const;
export const TaskStatus = z.enum(TASK_STATUSES).meta({ id: 'TaskStatus' });
export type TaskStatus = z.infer<typeof TaskStatus>;

export type TerminalStatus = Extract<TaskStatus, 'done' | 'canceled'>;

export function isTerminal(status: TaskStatus): status is TerminalStatus {
  return status === 'done' || status === 'canceled';
}

/** Any JSON value. It comes from a JSON parser, so it needs no check. */
export const Json = z.unknown();
export type Json = z.infer<typeof Json>;

/** The outcome of a piece of work. `projectOutcome` selects its public-safe part. */
export const Outcome = z
  .looseObject({
    summary: z.string().max(4_096).meta({ description: 'Public-safe.' }),
    progress: z.number().min(0).max(1).exactOptional().meta({ description: 'Public-safe. From 0 to 1.' }),
  })
  .meta({
    id: 'Outcome',
    description:
      'The outcome of a piece of work. `summary` and `progress` are public-safe: webhooks and the customer get them. Every other field is kept for the executor and never leaves.',
    examples: [{ summary: 'The invoice is drafted.', progress: 0.5, toolOutput: 'kept, and never sent' }],
  });
export type Outcome = z.infer<typeof Outcome>;

export const WorkspaceIdText = z
  .string()
  .regex(ID_PATTERNS.workspace, 'must be 1 to 64 letters, digits, _ or -')
  .meta({ examples: ['ws_acme'] });
/** An id that the executor chooses. */
export const GivenId = z.string().regex(ID_PATTERNS.approval, 'must be 1 to 128 letters, digits, . _ : or -');

/** Body of `POST /tasks`. */
export const CreateTask = z
  .strictObject({
    input: Json.exactOptional().meta({ description: 'The input of the executor. Any JSON.' }),
    callback: TaskCallback.exactOptional(),
    executionWorkspaceId: WorkspaceIdText.exactOptional().meta({
      description:
        'Where the Task runs. Default: the workspace itself. A key of the workspace can name only one that the platform has bound to it. Events go to the receivers of the workspace in any case.',
    }),
  })
  .meta({
    id: 'CreateTask',
    examples: [{ input: { invoice: 'in_42' }, callback: { url: 'https://hooks.example.com/invoice-42' } }],
  });
export type CreateTask = z.infer<typeof CreateTask>;

/** Body of `POST /tasks/{id}/messages`. */
export const AddMessage = z
  .strictObject({ text: z.string().min(1).max(32_768) })
  .meta({ id: 'AddMessage', examples: [{ text: 'The amount includes VAT.' }] });
export type AddMessage = z.infer<typeof AddMessage>;

/** Body of `POST /tasks/{id}/approvals/{approvalId}/resolve`. */
export const ResolveApproval = z
  .strictObject({
    decision: TypedText(1, 64).meta({ description: 'Usually the id of a decision item. Any text is allowed.' }),
    actionVersion: z.int().min(1).meta({ description: 'The `action_version` of the event that asked.' }),
  })
  .meta({ id: 'ResolveApproval', examples: [{ decision: 'yes', actionVersion: 1 }] });
export type ResolveApproval = z.infer<typeof ResolveApproval>;

/** Body of `POST /tasks/{id}/close`, the legacy close path. */
export const CloseTask = z
  .strictObject({ status: z.enum(['done', 'canceled']).meta({ id: 'TerminalStatus' }) })
  .meta({ id: 'CloseTask' });
export type CloseTask = z.infer<typeof CloseTask>;

/** Context added to a Task. The `id` makes a repeat recognisable; messages of release 0.1.0 have none. */
export type Message = { readonly id?: string; readonly text: string; readonly createdAt: number };

export type Decision = {
  readonly approvalId: string;
  readonly actionVersion: number;
  readonly decision: string;
  readonly decidedAt: number;
};

/** The action that the Task waits for, as far as its state machine needs it. */
export type OpenAction = {
  readonly version: number;
  readonly primary: string;
  readonly approvals: readonly string[];
  /** Absent: the workspace may resolve it. So it was of every action before there was this field. */
  readonly apiResolvable?: false;
};

/** The result of a Task. It stays with the Task; terminal events omit it (spec section 2). */
export type TaskResult = { readonly result?: Json; readonly outcome?: Outcome; readonly usage?: Json };

/** The part of a Task that its transitions read and change. The rest never changes, or only grows. */
export type TaskState = TaskResult & {
  readonly id: TaskId;
  /** The controller workspace. */
  readonly workspaceId: WorkspaceId;
  readonly status: TaskStatus;
  /** Sequence of the last emitted transition; 0 before the first. */
  readonly sequence: number;
  /** Changes with every write and never repeats, so that a decision on a stale read is refused. */
  readonly revision: string;
  /** The newest action asked for, resolved or not. */
  readonly action?: OpenAction;
  /** When its payloads were erased, epoch ms; nothing is added to it then. */
  readonly erasedAt?: number;
};

/** A Task as it is stored. Times are epoch ms. */
export type Task = TaskState & {
  readonly executionWorkspaceId: WorkspaceId;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly input?: Json;
  readonly callback?: EndpointOrdering & {
    readonly id: string;
    readonly url: string;
    readonly events: readonly EventName[];
  };
};
