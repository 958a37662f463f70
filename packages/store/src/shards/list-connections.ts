import type { Redis } from 'ioredis';

export type Connection = { readonly id: number; readonly name: string; readonly address: string };

/** Everybody's connections to a server; none where Redis doesn't tell this user. */
export async function listConnections(server: Redis): Promise<Connection[]> {
  try {
    const list = String(await server.client('LIST'));
    return list.split('\n').flatMap((line) => {
      const [found, id, address, name = ''] = /^id=(\d+) addr=(\S+).* name=(\S*)/.exec(line) ?? [];
      return found === undefined ? [] : [{ id: Number(id), name, address: address ?? '?' }];
    });
  } catch (error) {
    if (error instanceof Error && /NOPERM|unknown command/i.test(error.message)) return [];
    throw error;
  }
}
