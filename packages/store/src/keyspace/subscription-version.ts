/**
 * The version of a workspace's subscriptions is a random token, and `token:until` (epoch ms) once somebody listens to
 * the workspace. Acceptance reads and compares the version anyway, so that it costs a transition nothing to learn that
 * nobody listens. A former release compares the text as a whole, and tells no listener.
 */
export function isListened(version: string, now: number): boolean {
  const at = version.indexOf(':');
  return at >= 0 && Number(version.slice(at + 1)) > now;
}

export const SUBSCRIPTION_VERSION_LUA = /* lua */ `
-- version: of the subscriptions of a workspace (string)   token: a new one
-- Gives the subscriptions a new version. Until when somebody listens stays as it is.
local function changeVersion(version, token)
  local listened = string.match(redis.call('GET', version) or '', ':%d+$') or ''
  redis.call('SET', version, token .. listened)
end
`;
