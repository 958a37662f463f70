import { UnavailableError } from '@herald/core';
import { GLOBAL_KEYS, type ConfirmWrite, type Keyspace, type ReceiverStore, type TaskStore } from '@herald/infra';

export type ConfirmNewDeps = { readonly confirmWrite: ConfirmWrite; readonly keyspace: Keyspace };

/** A store of receivers that says `registered` only once replicas have the receiver. */
export function confirmReceivers(store: ReceiverStore, { confirmWrite, keyspace }: ConfirmNewDeps): ReceiverStore {
  return {
    ...store,
    async register(receiver, sealedSecret) {
      const reply = await store.register(receiver, sealedSecret);
      if (reply !== 'full') {
        await demand(confirmWrite({ key: keyspace.of(receiver.workspaceId).endpoint(receiver.id) }), 'receiver');
      }
      return reply;
    },
  };
}

/** A store of Tasks that says `created` only once replicas have the Task, and the look-up by which it is found. */
export function confirmTasks(store: TaskStore, { confirmWrite, keyspace }: ConfirmNewDeps): TaskStore {
  return {
    ...store,
    async create(task, callback) {
      const reply = await store.create(task, callback);
      const proofs = [keyspace.of(task.workspaceId).task(task.id), GLOBAL_KEYS.taskWorkspace(task.id)];
      const confirmed = await Promise.all(proofs.map((key) => confirmWrite({ key })));
      await demand(confirmed.every(Boolean), 'Task');
      return reply;
    },
  };
}

async function demand(confirmed: boolean | Promise<boolean>, what: string): Promise<void> {
  if (await confirmed) return;
  throw new UnavailableError(`too few replicas of Redis have the ${what} yet; ask again with the same Idempotency-Key`);
}
