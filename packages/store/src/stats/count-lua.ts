import { COUNTER_BITS, HEADER_BYTES, RINGS, SLOT_BYTES, STAMP_BYTES } from './counter-layout.ts';
import { STATS_WINDOWS } from './stats-window.ts';

const MINUTE_MS = 60_000;
const rings = RINGS.map((window) => STATS_WINDOWS[window]);
const listOf = (values: readonly number[]) => `{ ${values.join(', ')} }`;
/** So that the last bucket of the longest window can still be read. */
const KEPT_MS = Math.max(...rings.map(({ buckets, bucketMs }) => (buckets + 2) * bucketMs));

/**
 * `count(key, now, counts)` adds to counters of the present buckets (see counter-layout.ts) with two commands, and once a
 * minute with some more. now: ms; counts: number of the field → how much. A clock that is behind counts in the newest
 * bucket. The key expires by itself.
 */
export const COUNT_LUA = /* lua */ `
local MINUTES, SIZES = ${listOf(rings.map(({ bucketMs }) => bucketMs / MINUTE_MS))}, ${listOf(rings.map(({ buckets }) => buckets))}
local EMPTY = string.rep('\\0', ${SLOT_BYTES - STAMP_BYTES})

local function slotAt(ring, slot) return ${HEADER_BYTES} + (slot * ${RINGS.length} + ring - 1) * ${SLOT_BYTES} end

-- Begins the buckets of a minute, and returns their slots.
local function beginMinute(key, header, minute)
  local known, slots = 0, {}
  if #header == ${HEADER_BYTES} then known = struct.unpack('>I4', header) end
  if minute <= known then return { string.byte(header, 5, ${4 + RINGS.length}) } end
  for ring, size in ipairs(SIZES) do
    local bucket, slot = math.floor(minute / MINUTES[ring]), 0
    if known > 0 then slot = string.byte(header, 4 + ring) end
    if bucket ~= math.floor(known / MINUTES[ring]) then
      if known > 0 then slot = (slot + 1) % size end
      redis.call('SETRANGE', key, slotAt(ring, slot), struct.pack('>I4', bucket) .. EMPTY)
      if ring == #SIZES then redis.call('PEXPIRE', key, ${KEPT_MS}) end
    end
    slots[ring] = slot
  end
  redis.call('SETRANGE', key, 0, struct.pack('>I4', minute) .. string.char(unpack(slots)))
  return slots
end

local function count(key, now, counts)
  local minute = math.floor(now / ${MINUTE_MS})
  local header = redis.call('GETRANGE', key, 0, ${HEADER_BYTES - 1})
  local slots
  if string.sub(header, 1, 4) == struct.pack('>I4', minute) then
    slots = { string.byte(header, 5, ${4 + RINGS.length}) }
  else
    slots = beginMinute(key, header, minute)
  end
  local changes = {}
  for ring, slot in ipairs(slots) do
    local start = (slotAt(ring, slot) + ${STAMP_BYTES}) * 8
    for field, more in pairs(counts) do
      local at = #changes
      changes[at + 1], changes[at + 2], changes[at + 3], changes[at + 4] =
        'INCRBY', 'u${COUNTER_BITS}', start + field * ${COUNTER_BITS}, more
    end
  end
  redis.call('BITFIELD', key, unpack(changes))
end
`;
