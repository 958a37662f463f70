/** What the board can do at all: each is safe while the service runs. */
export type BoardAction = 'pause' | 'resume' | 'promote' | 'retry';

/** Routes of bull-board that change something, by the action they stand for. Every other one is refused. */
const ACTIONS: Readonly<Record<string, BoardAction>> = {
  'put /api/queues/:queueName/pause': 'pause',
  'put /api/queues/:queueName/resume': 'resume',
  'put /api/queues/pause': 'pause',
  'put /api/queues/resume': 'resume',
  'put /api/queues/:queueName/:jobId/promote': 'promote',
  'put /api/queues/:queueName/:jobId/retry': 'retry',
};

export type ActionVerdict =
  | { readonly allow: true; readonly action?: BoardAction }
  | { readonly allow: false; readonly status: 403 | 405; readonly message: string };

export type ActionRequest = {
  /** Of bull-board's route, in lower case. */
  readonly method: string;
  readonly route: string;
  readonly canWrite: boolean;
};

/** Whether a request to one of bull-board's routes may go on. A route that nobody has judged yet may not. */
export function judgeAction({ method, route, canWrite }: ActionRequest): ActionVerdict {
  if (method === 'get') return { allow: true };
  if (!canWrite) {
    return {
      allow: false,
      status: 405,
      message: 'The board is read-only. OPERATOR_WRITE=true allows what is harmless.',
    };
  }
  const action = ACTIONS[`${method} ${route}`];
  if (action === undefined) return { allow: false, status: 403, message: WHY_NOT };
  return { allow: true, action };
}

const WHY_NOT =
  'Not offered here. A job is a delivery, which is not added, changed or removed by hand. ' +
  'To end deliveries, disable or remove their receiver; to send many again, ask for a replay.';
