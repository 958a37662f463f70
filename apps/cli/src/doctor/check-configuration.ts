import { findPortClash, readApiConfig } from '@herald/config/api-config';
import { ConfigError } from '@herald/runtime/env/env';
import { readWorkerConfig } from '@herald/config/worker-config';
import { error, warning, type Check } from './check.ts';

const READ = { api: readApiConfig, worker: readWorkerConfig };
export type Process = keyof typeof READ;
export const PROCESSES: readonly Process[] = ['api', 'worker'];

const BY_SYSTEM = warning(
  'system_look_ups',
  'EGRESS_DNS is system: look-ups of the system share four threads, and a few slow domains hold up all others; ' +
    'leave it out unless names are in a hosts file (worker)',
);

/** Reads the environment as each process does when it starts; a problem of both is reported once. */
export function checkConfiguration(env: NodeJS.ProcessEnv, processes: readonly Process[]): Check {
  const found = processes.flatMap((process) => findProblems(process, env).map((problem) => ({ process, problem })));
  const findings = [...Map.groupBy(found, ({ problem }) => problem)].map(([problem, those]) =>
    error('configuration', `${problem} (${those.map(({ process }) => process).join(' and ')})`),
  );
  if (found.length === 0 && PROCESSES.every((each) => processes.includes(each))) {
    const clash = findPortClash(readApiConfig(env), readWorkerConfig(env));
    if (clash !== undefined) findings.push(error('configuration', `${clash} (api and worker)`));
  }
  if (processes.includes('worker') && env.EGRESS_DNS === 'system') findings.push(BY_SYSTEM);
  return { name: 'configuration', findings, well: `every variable of ${processes.join(' and ')} can be read` };
}

function findProblems(process: Process, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    READ[process](env);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
}
