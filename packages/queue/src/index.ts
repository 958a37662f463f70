// What runs BullMQ has subpaths of its own, `group-backend` and `board/create-board-queue`: most users of this package
// need only names and scripts, and shouldn't load it.
export { UnsupportedError } from './backend-base.ts';
export type { BoardJob, BoardJobs } from './board/create-board-queue.ts';
export { ENQUEUE_LUA, EXPRESS_MARK, GROUP_LUA, INHERIT_LUA } from './groups/group-lua.ts';
export { LEASE_LUA, LEAVE_QUEUE_LUA } from './groups/lease-lua.ts';
export { createQueueKeys, QUEUE_KEY_NAMES, RINGS, scoreOf, type QueueKeys, type Script } from './queue-keys.ts';
export { createGroupReader, type GroupState, JOBS_LUA, WAITING_LUA } from './state/group-reader.ts';
export { createQueueStateReader, GROUP_HEALTHS, type GroupHealth, type QueueState } from './state/queue-state.ts';
export type { JobEnd } from './worker/slots.ts';
