export type { Answer, CallOptions, Input, Operation, Paged } from './api/operation.ts';
export type { components, operations, paths } from './api/api-types.ts';
export type { ClientOptions } from './call.ts';
export {
  createExecutorClient,
  createPlatformClient,
  createTenantClient,
  type ExecutorClient,
  type PlatformClient,
  type TenantClient,
} from './create-client.ts';
export {
  createReporter,
  type Accepted,
  type Closed,
  type Reporter,
  type ReporterOptions,
  type Transition,
} from './create-reporter.ts';
export {
  ConnectionError,
  DeadlineError,
  ProblemError,
  ReporterFullError,
  type InputProblem,
  type ProblemCode,
} from './errors.ts';
export type { Fetch } from './send.ts';
