import { isCodeOf, READINESS_CODES } from '@herald/core';
import { error, type Finding } from '@herald/runtime/findings/finding';
import { createBuildRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { addFindingGauge } from './add-finding-gauge.ts';
import { createExposition } from '../service-state/create-exposition.ts';
import type { Readiness } from './create-readiness.ts';

/** What a process shows while it waits for a Redis that can be used: it lives, isn't ready, and says why. */
export function createWaitingView(process: 'api' | 'worker') {
  let problem: Finding | undefined;
  const readReadiness = (): Promise<Readiness> =>
    Promise.resolve({ status: 'unavailable', problems: problem ? [problem] : [], warnings: [], workers: null });
  const registry = createBuildRegistry(process);
  addFindingGauge(registry, readReadiness);
  return {
    show: (cause: Finding): void => {
      problem = toProblem(cause);
    },
    readReadiness,
    /** Of the build, why it waits, and that nothing is known of the service. */
    exposition: createExposition(registry, () =>
      Promise.reject(new Error('there is no Redis yet that could be asked')),
    ),
  };
}

/** The page is open to everybody: the sentence of the cause may name users and addresses, and the log has it. */
function toProblem({ code }: Finding): Finding {
  return error(
    isCodeOf(READINESS_CODES, code) ? code : 'redis_away',
    `Redis can't be used yet (${code}), and this process waits for it; "herald doctor" says what to do`,
  );
}
