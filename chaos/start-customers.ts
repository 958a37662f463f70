import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@herald/test-kit';
import { askForRedelivery, askForReplay } from './ask-again.ts';
import { changeReceivers, type ChangeDeps, type UnclearReceiver } from './change-receivers.ts';
import type { ChaosWorkspace } from './found-workspaces.ts';
import { createRandom } from './random.ts';
import type { Load } from './start-load.ts';

export type CustomersDeps = Omit<ChangeDeps, 'onUnclear'> & {
  readonly seed: number;
  readonly workspaces: readonly ChaosWorkspace[];
};

export type Customers = Load & {
  /** Registrations without an answer. */
  readonly unclear: readonly UnclearReceiver[];
};

/** A customer for each workspace, who changes receivers and asks for redeliveries, one request at a time. */
export function startCustomers(deps: CustomersDeps): Customers {
  const stopping = new AbortController();
  const unclear: UnclearReceiver[] = [];
  const serve = async (workspace: ChaosWorkspace, index: number) => {
    const random = createRandom(deps.seed, `customer ${index}`);
    const changing = {
      ...deps,
      onUnclear: (one: Omit<UnclearReceiver, 'workspace'>) => unclear.push({ ...one, workspace }),
    };
    while (!stopping.signal.aborted) {
      const what = random.next();
      try {
        if (what < 0.5) await changeReceivers(changing, workspace, random);
        else if (what < 0.85) await askForRedelivery(deps, workspace, random);
        else await askForReplay(deps, workspace, random);
      } catch (error) {
        deps.ledger.violations.push(`customer ${index}: ${messageOf(error)}`);
      }
      await pause(random.between(100, 1_200));
    }
  };
  const customers = deps.workspaces.map(serve);
  return {
    unclear,
    async stop() {
      stopping.abort();
      await Promise.all(customers);
    },
  };
}
