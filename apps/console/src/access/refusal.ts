import type { ApiProblem } from '../api/api-problem.ts';
import { createStore } from '../state/create-store.ts';

/** Set when the service has refused the token of this tab: it is wrong, or has ended. */
export const refusal = createStore<ApiProblem | undefined>(undefined);
