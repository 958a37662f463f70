import { ConfigError } from '@herald/runtime/env/env';
import { readApiConfig } from '@herald/config/api-config';
import { readWorkerConfig } from '@herald/config/worker-config';
import type { Finding } from '@herald/runtime/findings/finding';
import { error, warning, type Check } from './check.ts';

/** The processes whose variables are looked at. */
export const PROCESSES = ['api', 'worker'] as const;
export type Process = (typeof PROCESSES)[number];

const READ: Record<Process, (env: NodeJS.ProcessEnv) => unknown> = { api: readApiConfig, worker: readWorkerConfig };

/** Reads the environment as each process does at its start; a problem that both have is told once. */
export function checkConfiguration(env: NodeJS.ProcessEnv, processes: readonly Process[]): Check {
  const found = new Map<string, Process[]>();
  for (const process of processes) {
    for (const problem of findProblems(process, env)) found.set(problem, [...(found.get(problem) ?? []), process]);
  }
  const findings: Finding[] = [...found].map(([problem, of]) =>
    error('configuration', `${problem} (${of.join(' and ')})`),
  );
  if (processes.includes('worker') && !env.EGRESS_DNS_SERVERS) findings.push(NO_RESOLVERS);
  const names = processes.join(' and ');
  return { name: 'configuration', findings, well: `every variable of ${names} can be read` };
}

const NO_RESOLVERS = warning(
  'system_look_ups',
  'EGRESS_DNS_SERVERS is not set: look-ups of the system share four threads, and a few slow domains hold up all others; ' +
    'set it to the addresses of your resolvers (worker)',
);

function findProblems(process: Process, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    READ[process](env);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
}
