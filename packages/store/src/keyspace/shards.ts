import type { WorkspaceId } from '@herald/core';
import { workspaceOfOwner } from './platform.ts';

/**
 * Hash tags of the shards. For every n, the first n tags spread over the 16,384 slots as evenly as n tags can, by
 * CRC16, so that a cluster's masters share them evenly. The order must never change: data lives under it.
 */
export const SHARD_TAGS: readonly string[] = [
  'h0dr h1gg h2qc h3mj h4wc h5kj h6br h7ag h8ng h9mr h10cs h11og h12pq h13lx h14pb h15sw',
  'h16pa h17st h18yj h19ec h20ni h21cc h22dd h23xm h24ai h25ra h26kd h27wm h28ta h29xu h30qf h31bn',
  'h32ap h33be h34ac h35bv h36ra h37nh h38dv h39gc h40fg h41zn h42lj h43pc h44jj h45vc h46of h47cr',
  'h48cb h49ov h50yy h51ep h52ug h53vr h54ut h55va h56zg h57yr h58sl h59oe h60do h61xf h62nb h63rk',
].flatMap((line) => line.split(' '));

/** The largest SHARDS. */
export const SHARD_LIMIT = SHARD_TAGS.length;

/** 32-bit FNV-1a over UTF-16 units. It must never change, as it decides where a workspace's data lies. */
function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/** The shard, from 0, that holds everything of a workspace, with the notices about it. */
export function shardOf(workspaceId: WorkspaceId, shardCount: number): number {
  return stableHash(workspaceOfOwner(workspaceId)) % shardCount;
}
