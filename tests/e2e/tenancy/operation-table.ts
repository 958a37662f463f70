import type { Inhabited } from './scene.ts';

/** How an operation is called so that it would do something, with the things of a workspace. */
export interface Call {
  /** What of the workspace stands in its path; empty for what has no id. */
  params: readonly (keyof Inhabited['ids'])[];
  body?: (ids: Inhabited['ids']) => unknown;
  query?: string;
  /** Needs no key and knows no workspace. */
  isOpen?: true;
}

/** A place for every operation of the document, by its id. */
export const CALLS: Readonly<Record<string, Call>> = {
  listReceivers: { params: [] },
  registerReceiver: { params: [], body: () => ({ url: 'https://hooks.example.com/in' }) },
  readReceiver: { params: ['receiver'] },
  changeReceiver: { params: ['receiver'], body: () => ({ description: 'taken over', enabled: false }) },
  removeReceiver: { params: ['receiver'] },
  testReceiver: { params: ['receiver'] },
  rotateReceiverSecret: { params: ['receiver'], body: () => ({ overlapSeconds: 0 }) },
  listReceiverDeliveries: { params: ['receiver'], query: '?limit=100' },
  replayDeliveries: { params: ['receiver'], body: () => ({ since: '2020-01-01T00:00:00Z', status: 'delivered' }) },
  listDeliveries: { params: [], query: '?limit=100' },
  readDelivery: { params: ['receiverDelivery'] },
  redeliver: { params: ['receiverDelivery'] },
  readReplay: { params: ['replay'] },
  stopReplay: { params: ['replay'] },
  createTask: { params: [], body: () => ({ input: 1 }) },
  readTask: { params: ['task'] },
  addMessage: { params: ['waitingTask'], body: () => ({ text: 'from elsewhere' }) },
  resolveApproval: { params: ['waitingTask', 'approval'], body: () => ({ decision: 'yes', actionVersion: 1 }) },
  cancelTask: { params: ['waitingTask'] },
  closeTask: { params: ['waitingTask'], body: () => ({ status: 'done' }) },
  listTaskDeliveries: { params: ['task'], query: '?limit=100' },
  changeCallback: { params: ['waitingTask'], body: () => ({ enabled: false }) },
  rotateCallbackSecret: { params: ['waitingTask'], body: () => ({ overlapSeconds: 0 }) },
  erasePayloads: { params: ['task'] },
  reportTransition: { params: ['waitingTask'], body: () => ({ type: 'done', result: 1 }) },
  reportTransitions: {
    params: [],
    body: ({ waitingTask }) => ({ transitions: [{ taskId: waitingTask, type: 'canceled' }] }),
  },
  listTasks: { params: [], query: '?status=done' },
  readExecutorTask: { params: ['task'] },
  isAlive: { params: [], isOpen: true },
  isReady: { params: [], isOpen: true },
  start: { params: [], isOpen: true },
  listErrorCodes: { params: [], isOpen: true },
};
