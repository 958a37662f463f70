import {
  COUNTER_BITS,
  COUNTERS_BYTES,
  FIELDS,
  HEADER_BYTES,
  RINGS,
  SLOT_BYTES,
  SLOTS_AT,
  STATS_WINDOWS,
} from './counter-layout.ts';

const MINUTE_MS = 60_000;
const rings = RINGS.map((window) => STATS_WINDOWS[window]);
const listOf = (values: readonly (number | string)[]) => `{ ${values.join(', ')} }`;
/** So that the last bucket of the longest window can still be read. */
const KEPT_MS = Math.max(...rings.map(({ buckets, bucketMs }) => (buckets + 2) * bucketMs));
/** In bits, as texts: Redis would write each number as a text with 17 digits. */
const PRESENT_AT = Array.from({ length: FIELDS }, (_, field) => `'${HEADER_BYTES * 8 + field * COUNTER_BITS}'`);

/**
 * `count(key, now, counts)` adds to the counters of the present minute (see counter-layout.ts) with one command; the first
 * of a minute also puts away what the last one had. now: ms; counts: number of the field → how much. A clock that is
 * behind counts in the newest minute. The key expires by itself.
 */
export const COUNT_LUA = /* lua */ `
local PRESENT_AT = ${listOf(PRESENT_AT)}
-- The newest slot of a ring that has none.
local NONE = 255

-- Adds counters, as bytes, to those of a slot. start: where they begin.
local function addCounters(key, start, counters)
  local changes, byte = {}, string.find(counters, '[^%z]')
  while byte do
    -- Two counters take seven bytes.
    local pair = math.floor((byte - 1) / 7)
    local b = { string.byte(counters, pair * 7 + 1, pair * 7 + 7) }
    local both = {
      b[1] * 2^20 + b[2] * 2^12 + b[3] * 2^4 + math.floor(b[4] / 16), b[4] % 16 * 2^24 + b[5] * 2^16 + b[6] * 2^8 + b[7],
    }
    for index, more in ipairs(both) do
      local at = #changes
      changes[at + 1], changes[at + 2] = 'INCRBY', 'u${COUNTER_BITS}'
      changes[at + 3], changes[at + 4] = start * 8 + (pair * 2 + index - 1) * ${COUNTER_BITS}, more
    end
    byte = string.find(counters, '[^%z]', pair * 7 + 8)
  end
  redis.call('BITFIELD', key, unpack(changes))
end

-- Puts the counters of the minute that was present into the rings, and begins another.
local function beginMinute(key, minute)
  local minutes, sizes = ${listOf(rings.map(({ bucketMs }) => bucketMs / MINUTE_MS))}, ${listOf(rings.map(({ buckets }) => buckets))}
  local text = redis.call('GETRANGE', key, 0, ${SLOTS_AT - 1})
  local known, putAway, slots = 0, 0, { NONE, NONE, NONE }
  if #text == ${SLOTS_AT} then known = struct.unpack('>I4', text) end
  if known > 0 then
    if minute <= known then return end
    known, putAway, slots[1], slots[2], slots[3] = struct.unpack('>I4I4BBB', text)
    local counters = string.sub(text, ${HEADER_BYTES + 1})
    for ring, size in ipairs(sizes) do
      local bucket = math.floor(known / minutes[ring])
      local isNew = bucket ~= math.floor(putAway / minutes[ring])
      if isNew then slots[ring] = slots[ring] == NONE and 0 or (slots[ring] + 1) % size end
      local start = ${SLOTS_AT} + (slots[ring] * ${RINGS.length} + ring - 1) * ${SLOT_BYTES}
      if isNew then
        redis.call('SETRANGE', key, start, struct.pack('>I4', bucket) .. counters)
      else
        addCounters(key, start + 4, counters)
      end
    end
    putAway = known
  end
  redis.call('SETRANGE', key, 0, struct.pack('>I4I4BBBB', minute, putAway, slots[1], slots[2], slots[3], 0) .. string.rep('\\0', ${COUNTERS_BYTES}))
  if math.floor(known / minutes[3]) ~= math.floor(minute / minutes[3]) then redis.call('PEXPIRE', key, ${KEPT_MS}) end
end

-- Adds to the present minute, or takes back. Returns the minute that is present.
local function add(key, counts, sign)
  local changes, size = { 'GET', 'u32', '0' }, 3
  for field, more in pairs(counts) do
    changes[size + 1], changes[size + 2] = 'INCRBY', 'u${COUNTER_BITS}'
    changes[size + 3], changes[size + 4] = PRESENT_AT[field + 1], sign * more
    size = size + 4
  end
  return redis.call('BITFIELD', key, unpack(changes))[1]
end

local function count(key, now, counts)
  local minute, known = math.floor(now / ${MINUTE_MS}), nil
  local field, more = next(counts)
  if more == 1 and not next(counts, field) then
    -- The usual one, without a table.
    known = redis.call('BITFIELD', key, 'GET', 'u32', '0', 'INCRBY', 'u${COUNTER_BITS}', PRESENT_AT[field + 1], '1')[1]
  else
    known = add(key, counts, 1)
  end
  if known == minute then return end
  -- It counted in a minute that has passed, or in a new string. That is taken back before another minute begins.
  add(key, counts, -1)
  beginMinute(key, minute)
  add(key, counts, 1)
end
`;
