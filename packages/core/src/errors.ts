import type { ErrorCode } from './codes/problem-codes.ts';
import { isCallbackId, taskIdOfCallback, type EndpointId } from './ids/ids.ts';

/**
 * A problem of the input: its place, keys joined with dots, and the rule that it breaks, as the rest of a sentence that
 * begins with the place: `must be a string`.
 */
export type InputProblem = {
  readonly path: string;
  readonly message: string;
  /** Stable, for programs. Absent: `invalid`. */
  readonly code?: InputProblemCode;
  /** The place as a JSON pointer. Absent: the path has no dots but those between keys. */
  readonly pointer?: string;
};

/** What is wrong with a part of an input. */
export const INPUT_PROBLEM_CODES = [
  'required',
  'unknown',
  'wrong_type',
  'not_allowed',
  'too_long',
  'too_short',
  'too_large',
  'too_small',
  'conflict',
  'invalid',
] as const;
export type InputProblemCode = (typeof INPUT_PROBLEM_CODES)[number];

/** A place as a JSON pointer (RFC 6901). */
export function toPointer(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A foreseen fault of the caller or of the moment. The caller sees its `message`. Any other error is internal. */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode;
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The workspace already holds as many receivers as the spec allows (section 8). */
export class ReceiverLimitReachedError extends DomainError {
  readonly code = 'receiver_limit_reached';
  constructor(limit: number) {
    super(`this workspace already has ${limit} receivers; remove one first`);
  }
}

/** The workspace already has as many replays under way as it may. */
export class ReplayLimitReachedError extends DomainError {
  readonly code = 'replay_limit_reached';
  constructor(limit: number) {
    super(`this workspace already has ${limit} replays under way; wait for one to end, or stop one`);
  }
}

/** As many listen to the workspace as may. */
export class ListenerLimitReachedError extends DomainError {
  readonly code = 'listener_limit_reached';
  constructor(limit: number) {
    super(
      `${limit} listeners are connected to this workspace already; end one first, or wait half a minute for one that died`,
    );
  }
}

/** The workspace already has as many portal links as it may: its own, or those that operators made. */
export class PortalLinkLimitReachedError extends DomainError {
  readonly code = 'portal_link_limit_reached';
  constructor(limit: number, by: 'tenant' | 'operator') {
    const which = by === 'operator' ? 'portal links that operators made' : 'portal links';
    super(`this workspace already has ${limit} ${which}; end one first, or wait until one has ended`);
  }
}

/** The workspace holds as much as it may: what it reports or creates is refused until some of it is gone. */
export class WorkspaceFullError extends DomainError {
  readonly code = 'workspace_full';
  /**
   * @param of of what: pending deliveries, bytes of Tasks, facts, bodies, attempts and kept answers (`answers`: so that no answer
   * to a new key is kept), or (`memory`) of a Redis that is nearly full and in which it is among those that hold the most
   */
  constructor(of: 'pending' | 'bytes' | 'answers' | 'memory', limit = 0) {
    const why = {
      pending: `this workspace is full: ${limit} deliveries may be pending`,
      bytes: `this workspace is full: its Tasks, facts, bodies, attempts and kept answers may take ${limit} bytes`,
      answers: `no answer is kept for a new Idempotency-Key: what this caller holds may take ${limit} bytes`,
      memory: 'the store is nearly full, and this workspace is among those that hold the most',
    };
    super(`${why[of]}; wait until some of it is gone, and send more slowly`);
  }
}

/** The workspace already has as many API keys as the platform may make for it. */
export class KeyLimitReachedError extends DomainError {
  readonly code = 'key_limit_reached';
  constructor(limit: number) {
    super(`this workspace already has ${limit} API keys; revoke one first`);
  }
}

/** The workspace may already run Tasks in as many others as it may. */
export class BindingLimitReachedError extends DomainError {
  readonly code = 'binding_limit_reached';
  constructor(limit: number) {
    super(`this workspace is already bound to ${limit} execution workspaces; end a binding first`);
  }
}

/** `If-Match` doesn't hold: somebody else has changed the receiver, or nothing there has an `ETag`. */
export class PreconditionFailedError extends DomainError {
  readonly code = 'precondition_failed';
  /** @param id the receiver that has changed; absent: nothing there has an `ETag` */
  constructor(id?: EndpointId) {
    super(
      id === undefined
        ? 'nothing here has an ETag, so If-Match cannot hold; leave it out'
        : `${id} is not what If-Match names: it was changed since you read it; read it again, and send the ETag of that answer`,
    );
  }
}

/** A key of a workspace names an execution workspace that the platform has not bound to it (spec section 1). */
export class WorkspaceNotBoundError extends DomainError {
  readonly code = 'workspace_not_bound';
  constructor(executionWorkspaceId: string) {
    super(
      `Tasks of this workspace do not run in ${executionWorkspaceId}: the platform has not bound the two; leave executionWorkspaceId out, or ask the platform`,
    );
  }
}

type Thing =
  | 'workspace'
  | 'receiver'
  | 'task'
  | 'callback'
  | 'approval'
  | 'delivery'
  | 'replay'
  | 'portal_link'
  | 'key';

/** The thing doesn't exist, or belongs to another workspace: the caller can't tell which. */
export class NotFoundError extends DomainError {
  readonly code: `${Thing}_not_found`;
  constructor(thing: Thing, id: string) {
    super(`there is no ${thing.replace('_', ' ')} ${id} here`);
    this.code = `${thing}_not_found`;
  }
}

/** The endpoint is disabled, and nothing is sent to it but test events. */
export class ReceiverDisabledError extends DomainError {
  readonly code = 'receiver_disabled';
  readonly endpointId: EndpointId;
  constructor(id: EndpointId) {
    const path = isCallbackId(id) ? `/tasks/${taskIdOfCallback(id)}/callback` : `/api/public/webhooks/${id}`;
    super(`${id} is disabled; enable it first: PATCH ${path} with {"enabled": true}`);
    this.endpointId = id;
  }
}

/** The platform locked the endpoint: it stays disabled and as it is, and nothing is sent to it, until the lock is lifted. */
export class ReceiverLockedError extends DomainError {
  readonly code = 'receiver_locked';
  readonly endpointId: EndpointId;
  readonly reason: string;
  /** @param reason what the platform says about it, '' for nothing */
  constructor(id: EndpointId, reason: string) {
    const why = reason === '' ? '' : `; its reason: ${reason}`;
    super(`${id} is locked by the platform; ask it to lift the lock${why}`);
    this.endpointId = id;
    this.reason = reason;
  }
}

/** The Task's state doesn't allow this move. */
export class InvalidTransitionError extends DomainError {
  readonly code = 'invalid_transition';
}

/** The Task is done or canceled and takes nothing more. */
export class TaskClosedError extends DomainError {
  readonly code = 'task_closed';
  constructor(taskId: string, status: string) {
    super(`Task ${taskId} is ${status} and takes nothing more`);
  }
}

/** The Task is not done or canceled yet. */
export class TaskOpenError extends DomainError {
  readonly code = 'task_open';
  constructor(taskId: string, status: string) {
    super(`Task ${taskId} is ${status}; only what a done or canceled Task holds can be erased: cancel it first`);
  }
}

/** The body of the delivery was erased, so nothing can be sent again. */
export class PayloadErasedError extends DomainError {
  readonly code = 'payload_erased';
  constructor(deliveryId: string) {
    super(`the payload of ${deliveryId} was erased with those of its Task; there is nothing left to send`);
  }
}

/** The body of the delivery has left Redis, and history is told to keep none (`HISTORY_BODIES`). */
export class PayloadNotKeptError extends DomainError {
  readonly code = 'payload_not_kept';
  constructor(deliveryId: string) {
    super(`the payload of ${deliveryId} is no longer kept, because HISTORY_BODIES=false; only its facts are left`);
  }
}

/** The executor asked for somebody who acts on the page of `action_url` (spec section 4). */
export class NotApiResolvableError extends DomainError {
  readonly code = 'not_api_resolvable';
  constructor(approvalId: string) {
    super(
      `approval ${approvalId} is not resolved by a key of its workspace: its api_resolvable is false; somebody decides on the page of its action_url`,
    );
  }
}

/** The caller names an action version that a newer one has replaced, or that was never asked for. */
export class StaleActionVersionError extends DomainError {
  readonly code = 'stale_action_version';
  constructor(given: number, current: number | undefined) {
    super(
      current === undefined
        ? `action version ${given} is not current: nothing has been asked for`
        : `action version ${given} is not current; the current one is ${current}`,
    );
  }
}

/** The input is readable but breaks rules. Nothing was changed. */
export class ValidationError extends DomainError {
  readonly code = 'validation_failed';
  /** Each with its whole sentence. */
  readonly problems: readonly Required<InputProblem>[];
  /** @param whole what the input is called where a problem has no place */
  constructor(problems: readonly InputProblem[], whole = 'the body') {
    const sentences = problems.map(({ path, message, code = 'invalid', pointer }) => ({
      path,
      message: `${path || whole} ${message}`,
      code,
      pointer: pointer ?? toPointer(path === '' ? [] : path.split('.')),
    }));
    super(sentences.map(({ message }) => message).join('; '));
    this.problems = sentences;
  }
}

/** Redis or the workers, which the answer depends on, are unavailable for now. */
export class UnavailableError extends DomainError {
  readonly code = 'unavailable';
}

/** History, which the answer depends on, can't be read or written in time. */
export class HistoryUnavailableError extends DomainError {
  readonly code = 'history_unavailable';
  constructor() {
    super('the history of deliveries cannot be reached now; try again, or ask for newer ones');
  }
}

/** What history answers. Undefined when it is away, if what Redis has is an answer too. */
export async function whileAvailable<T>(answer: Promise<T>, hasSome: boolean): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (hasSome && error instanceof HistoryUnavailableError) return undefined;
    throw error;
  }
}
