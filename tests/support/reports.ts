/** One transition as an executor reports it. */
export type Report = Readonly<Record<string, unknown>> & { readonly type: string };

export const START: Report = { type: 'start' };
export const DONE: Report = { type: 'done' };
export const CANCELED: Report = { type: 'canceled' };

/** A material canonical checkpoint, the kind that emits. */
export function checkpoint(checkpointId: string, more: object = {}): Report {
  return {
    type: 'checkpoint',
    checkpointId,
    canonical: true,
    material: true,
    outcome: { summary: `at ${checkpointId}`, progress: 0.5 },
    ...more,
  };
}

export function actionRequired(actionVersion: number, more: object = {}): Report {
  return {
    type: 'action_required',
    actionVersion,
    approvalRequests: [
      { id: 'pay', primary: true, title: 'Pay the invoice', description: '12 EUR' },
      { id: 'notify', title: 'Tell the customer' },
    ],
    decisionItems: [
      { id: 'yes', label: 'Pay', description: 'now' },
      { id: 'no', label: 'Refuse' },
    ],
    apiResolvable: true,
    outcome: { summary: 'waiting for approval' },
    ...more,
  };
}
