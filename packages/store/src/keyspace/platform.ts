import { PLATFORM, type WorkspaceId } from '@herald/core';

/** The end of the name of the owner of the notices about a workspace. */
export const PLATFORM_OWNER = `:${PLATFORM}`;

/**
 * The workspace that an owner belongs to. A notice's owner is its workspace's id and `PLATFORM_OWNER`, which is the id
 * of no workspace: no customer finds the notice, and it lies in the workspace's shard.
 */
export function workspaceOfOwner(owner: string): WorkspaceId {
  return owner.endsWith(PLATFORM_OWNER) ? owner.slice(0, -PLATFORM_OWNER.length) : owner;
}
