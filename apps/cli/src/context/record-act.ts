import { createAuditTrail, type NewAuditEntry } from '@herald/store/audit/audit-trail';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createShardRecordStore } from '@herald/store/shards/shard-record';
import { ConfigError } from '@herald/runtime/env/env';
import { userInfo } from 'node:os';
import { explainFailure } from './explain-failure.ts';
import type { Herald } from './open-herald.ts';
import type { Output } from '../output/create-output.ts';

/** What a command has done. */
export type Act = Pick<NewAuditEntry, 'action' | 'target' | 'workspaceId' | 'fields' | 'reason'>;

/**
 * Notes in the audit trail what a command has done: after it is done, and before the command says so. When that fails,
 * the change stands, and the exit code is 1.
 */
export function createRecordAct(output: Pick<Output, 'problem'>) {
  return async (herald: Pick<Herald, 'redis' | 'awaitReplication' | 'config' | 'now'>, act: Act): Promise<void> => {
    try {
      // By the data, since some commands work with any SHARDS. Until it has a number, all goes to the first shard.
      const { count = 1, movingTo } = await createShardRecordStore(herald.redis).read();
      if (movingTo !== undefined) throw new ConfigError('The data is being resharded.');
      const trail = createAuditTrail({ ...herald, keyspace: createKeyspace(count), length: herald.config.auditLength });
      await trail.add({ by: 'cli', user: systemUser(), ...act });
    } catch (error) {
      output.problem(`This is done, but the audit trail doesn't say so. ${explainFailure(error)}`);
    }
  };
}
export type RecordAct = ReturnType<typeof createRecordAct>;

/** The name of the user of this process. In a container it may have a number alone. */
export function systemUser(read: () => { readonly username: string } = userInfo): string {
  try {
    return read().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
