/** The actions of the board, as the audit trail names them. Each is safe while the service runs. */
export type BoardAction = 'pauseQueue' | 'resumeQueue' | 'redeliverDelivery';

/** The routes of bull-board that operators may use for a change. Every other change is refused. */
const ACTIONS: Readonly<Record<string, BoardAction>> = {
  'put /api/queues/:queueName/pause': 'pauseQueue',
  'put /api/queues/:queueName/resume': 'resumeQueue',
  'put /api/queues/pause': 'pauseQueue',
  'put /api/queues/resume': 'resumeQueue',
  'put /api/queues/:queueName/:jobId/promote': 'redeliverDelivery',
  'put /api/queues/:queueName/:jobId/retry': 'redeliverDelivery',
};

export type ActionVerdict =
  | { readonly allow: true; readonly action?: BoardAction }
  | { readonly allow: false; readonly status: 403 | 405; readonly message: string };

export type ActionRequest = {
  /** In lower case. */
  readonly method: string;
  /** The pattern of bull-board's route. */
  readonly route: string;
  readonly canWrite: boolean;
};

/** Whether a request to a route of bull-board may go on. A route that is not in the table may not. */
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
