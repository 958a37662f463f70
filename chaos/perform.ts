import type { Herald } from '../tests/support/start-herald.ts';
import type { Fleet } from './fleet.ts';
import type { HistoryFaults } from './history-faults.ts';
import type { ReplicaFaults } from './replica-faults.ts';
import type { Perform } from './run-plan.ts';
import { createServerFaults } from './server-faults.ts';
import type { Host } from './start-host.ts';

export type PerformDeps = {
  readonly herald: Herald;
  readonly fleet: Fleet;
  readonly hosts: readonly Host[];
  readonly replicas: ReplicaFaults;
  /** Absent: there is no history. */
  readonly history: HistoryFaults | undefined;
};

/** The parts that carry out a plan. */
export function createPerform({ herald, fleet, hosts, replicas, history }: PerformDeps): Perform {
  const { server } = herald.topology;
  const single = server && createServerFaults(server);
  return {
    async begin(action) {
      switch (action.kind) {
        case 'process':
          await fleet.beginProcessFault(action.slot, action.fault);
          return;
        case 'link':
          fleet.beginLinkFault(action.slot, action.fault);
          return;
        case 'clock':
          fleet.beginClockFault(action.slot, action.fault);
          return;
        case 'redis':
          fleet.setRedisFault(true);
          await single?.begin(action.fault);
          return;
        case 'replicas':
          fleet.setRedisFault(true, action.fault.endsWith('replica'));
          await replicas.begin(action.shard, action.fault);
          return;
        case 'history':
          if (action.fault === 'unset') fleet.setHistoryUnset(true);
          else await history?.begin(action.fault);
          return;
        case 'receiver':
          await hosts[action.index]?.set(action.mood);
      }
    },
    async end(action) {
      switch (action.kind) {
        case 'process':
          await fleet.endProcessFault(action.slot, action.fault);
          return;
        case 'link':
          fleet.endLinkFault(action.slot, action.fault);
          return;
        case 'clock':
          fleet.endClockFault(action.slot);
          return;
        case 'redis':
          await single?.end(action.fault);
          fleet.setRedisFault(false);
          return;
        case 'replicas':
          await replicas.end(action.fault);
          fleet.setRedisFault(false, action.fault.endsWith('replica'));
          return;
        case 'history':
          if (action.fault === 'unset') fleet.setHistoryUnset(false);
          else await history?.end(action.fault);
          return;
        case 'receiver':
          await hosts[action.index]?.set('good');
      }
    },
  };
}
