export { BoardBackend, type BoardBackendOptions } from './board/board-backend.ts';
export type { BoardJob, BoardJobs } from './board/board-jobs.ts';
export { createBoardQueue } from './board/create-board-queue.ts';
export { GroupBackend, type GroupBackendOptions } from './group-backend.ts';
export { ENQUEUE_LUA } from './groups/enqueue-lua.ts';
export { EXPRESS_MARK, GROUP_LUA } from './groups/group-lua.ts';
export { LEASE_LUA } from './groups/lease-lua.ts';
export { scoreOf } from './job-class.ts';
export { createQueueKeys } from './queue-keys.ts';
export type { DefineScript, Script } from './script.ts';
export { createGroupReader, type GroupReader, type GroupState } from './state/group-reader.ts';
export {
  createQueueStateReader,
  GROUP_HEALTHS,
  type GroupHealth,
  type GroupsState,
  type QueueState,
  type StateDeps,
} from './state/queue-state.ts';
export { UnsupportedError } from './unsupported-error.ts';
export type { Reserved } from './worker/reserve.ts';
export type { JobEnd } from './worker/slots.ts';
export type { WaitConnection } from './wait-connection.ts';
