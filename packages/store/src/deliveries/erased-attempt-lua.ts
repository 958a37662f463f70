/**
 * `withoutContent(attempt)`: the JSON of an attempt without what the receiver answered, for a delivery whose payload was
 * erased. When, how long, with which status or error code, to which address and by which key stays. A second run changes nothing.
 */
export const ERASED_ATTEMPT_LUA = /* lua */ `
local function withoutContent(attempt)
  local known, kept = cjson.decode(attempt), {}
  for _, name in ipairs({ 'at', 'durationMs', 'status', 'error', 'p' }) do
    if known[name] ~= nil then kept[#kept + 1] = '"' .. name .. '":' .. cjson.encode(known[name]) end
  end
  return '{' .. table.concat(kept, ',') .. '}'
end
`;
