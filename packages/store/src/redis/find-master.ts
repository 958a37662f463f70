import { Cluster, type Redis } from 'ioredis';
import { mastersOf, type RedisClient } from './connect-redis.ts';

const SLOTS = 16_384;

/**
 * The server that has this key, as far as the client knows: it learns of a slot that has moved from
 * the next command there. Undefined where nobody has the slot.
 */
export function findMaster(redis: RedisClient, key: string): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis;
  const [address] = redis.slots[slotOf(key)] ?? [];
  return mastersOf(redis).find(({ options: { host, port } }) => `${host}:${port}` === address);
}

/** The slot of a key: CRC16 (XMODEM) of its hash tag, or of all of it, as the Redis Cluster specification says. */
export function slotOf(key: string): number {
  const [, tag = key] = /\{([^}]+)\}/.exec(key) ?? [];
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x80_00 ? 0x10_21 : 0)) & 0xff_ff;
  }
  return crc % SLOTS;
}
