import type { Inhabited } from './scene.ts';

/** How an operation is called so that it would do something, with the things of a workspace. */
export interface Call {
  /** What of the workspace stands in its path; empty for what has no id. */
  params: readonly (keyof Inhabited['ids'])[];
  body?: (ids: Inhabited['ids']) => unknown;
  query?: string;
  /** Portal links may use it: `read` the read-only ones too. Absent: none may. */
  portalLinks?: 'read' | 'change';
  /** Needs no key and knows no workspace. */
  isOpen?: true;
  /** For operators, who have another sign-in and see all workspaces. */
  isOperators?: true;
  /** For operators alone too, by a link to the workspace that they made and that may change things. */
  isOperatorLinks?: true;
}

/** A place for every operation of the document, by its id. */
export const CALLS: Readonly<Record<string, Call>> = {
  listReceivers: { params: [], portalLinks: 'read' },
  registerReceiver: { params: [], body: () => ({ url: 'https://hooks.example.com/in' }), portalLinks: 'change' },
  readReceiver: { params: ['receiver'], portalLinks: 'read' },
  changeReceiver: {
    params: ['receiver'],
    body: () => ({ description: 'taken over', enabled: false }),
    portalLinks: 'change',
  },
  removeReceiver: { params: ['receiver'], portalLinks: 'change' },
  testReceiver: { params: ['receiver'], portalLinks: 'change' },
  rotateReceiverSecret: { params: ['receiver'], body: () => ({ overlapSeconds: 0 }), portalLinks: 'change' },
  endReceiverOverlap: { params: ['receiver'], portalLinks: 'change' },
  listReceiverDeliveries: { params: ['receiver'], query: '?limit=100', portalLinks: 'read' },
  readReceiverStats: { params: ['receiver'], query: '?window=1h', portalLinks: 'read' },
  replayDeliveries: {
    params: ['receiver'],
    body: () => ({ since: '2020-01-01T00:00:00Z', status: 'delivered' }),
    portalLinks: 'change',
  },
  listDeliveries: { params: [], query: '?limit=100', portalLinks: 'read' },
  readDelivery: { params: ['receiverDelivery'], portalLinks: 'read' },
  redeliverDelivery: { params: ['receiverDelivery'], portalLinks: 'change' },
  readStats: { params: [], query: '?window=7d', portalLinks: 'read' },
  readActivity: { params: [], portalLinks: 'read' },
  listenToEvents: { params: [] },
  createPortalLink: { params: [], body: () => ({ expiresInSeconds: 60 }) },
  listPortalLinks: { params: [] },
  revokePortalLink: { params: ['portalLink'] },
  readAccess: { params: [], portalLinks: 'read' },
  readReplay: { params: ['replay'], portalLinks: 'read' },
  stopReplay: { params: ['replay'], portalLinks: 'change' },
  createTask: { params: [], body: () => ({ input: 1 }) },
  listWorkspaceTasks: { params: [], query: '?limit=100' },
  readTask: { params: ['task'] },
  addMessage: { params: ['waitingTask'], body: () => ({ text: 'from elsewhere' }) },
  resolveApproval: { params: ['waitingTask', 'approval'], body: () => ({ decision: 'yes', actionVersion: 1 }) },
  cancelTask: { params: ['waitingTask'] },
  closeTask: { params: ['waitingTask'], body: () => ({ status: 'done' }) },
  listTaskDeliveries: { params: ['task'], query: '?limit=100', portalLinks: 'read' },
  changeCallback: { params: ['waitingTask'], body: () => ({ enabled: false }) },
  rotateCallbackSecret: { params: ['waitingTask'], body: () => ({ overlapSeconds: 0 }) },
  erasePayloads: { params: ['task'] },
  reportTransition: { params: ['waitingTask'], body: () => ({ type: 'done', result: 1 }) },
  reportTransitions: {
    params: [],
    body: ({ waitingTask }) => ({ transitions: [{ taskId: waitingTask, type: 'canceled' }] }),
  },
  resolveAnyApproval: { params: ['waitingTask', 'approval'], body: () => ({ decision: 'yes', actionVersion: 1 }) },
  listTasks: { params: [], query: '?status=done' },
  readExecutorTask: { params: ['task'] },
  createWorkspaceKey: { params: ['workspace'], body: () => ({ scopes: ['webhooks'] }) },
  listWorkspaceKeys: { params: ['workspace'] },
  revokeWorkspaceKey: { params: ['workspace', 'key'] },
  createWorkspacePortalLink: { params: ['workspace'], body: () => ({ expiresInSeconds: 60 }) },
  listWorkspacePortalLinks: { params: ['workspace'] },
  revokeWorkspacePortalLink: { params: ['workspace', 'portalLink'] },
  createWorkspaceTask: { params: ['workspace'], body: () => ({ executionWorkspaceId: 'ws_of_nobody' }) },
  bindExecutionWorkspace: { params: ['workspace'], body: () => ({ executionWorkspaceId: 'ws_of_nobody' }) },
  listExecutionWorkspaces: { params: ['workspace'] },
  unbindExecutionWorkspace: { params: ['workspace', 'executionWorkspace'] },
  eraseWorkspace: { params: ['workspace'] },
  readOverview: { params: [], isOperators: true },
  listWaitingReceivers: { params: [], isOperators: true },
  searchService: { params: [], query: '?q=ws_x', isOperators: true },
  listFailedDeliveries: { params: [], isOperators: true },
  listAudit: { params: [], isOperators: true },
  openWorkspace: { params: ['workspace'], isOperators: true },
  lockReceiver: { params: ['receiver'], isOperatorLinks: true },
  unlockReceiver: { params: ['receiver'], isOperatorLinks: true },
  pauseReceiver: { params: ['receiver'], isOperatorLinks: true },
  resumeReceiver: { params: ['receiver'], isOperatorLinks: true },
  isAlive: { params: [], isOpen: true },
  isReady: { params: [], isOpen: true },
  readStartPage: { params: [], isOpen: true },
  listErrorCodes: { params: [], isOpen: true },
};

/** Pages for people and programs, which are in no document. They have one method, and change nothing. */
export const PAGES: Readonly<Record<string, Pick<Call, 'isOpen' | 'isOperators'>>> = {
  '/openapi.json': { isOpen: true },
  '/docs': { isOpen: true },
  '/docs/page.css': { isOpen: true },
  '/docs/page.js': { isOpen: true },
  '/docs/pages.css': { isOpen: true },
  '/docs/receiving': { isOpen: true },
  '/docs/swagger-ui.css': { isOpen: true },
  '/docs/swagger-ui-bundle.js': { isOpen: true },
  '/docs/favicon-32x32.png': { isOpen: true },
  '/console{/*path}': { isOpen: true },
  '/metrics': { isOperators: true },
  '/admin{/*path}': { isOperators: true },
  '/admin/queues': { isOperators: true },
  '/admin/queues/api/queues': { isOperators: true },
};
