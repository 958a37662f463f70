import { mastersOf, type RedisClient } from './connect-redis.ts';

/** The `CLIENT LIST` of each server that holds the data. */
export async function listClients(redis: RedisClient): Promise<string[]> {
  return (await Promise.all(mastersOf(redis).map((server) => server.client('LIST')))).map(String);
}
