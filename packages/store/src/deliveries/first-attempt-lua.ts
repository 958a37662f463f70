import { FIRST_ATTEMPT, FIRST_ATTEMPT_CONTENT } from './first-attempt.ts';

/** Attempts that a delivery's log keeps: the schedule makes 10, redeliveries add to them. */
const ATTEMPT_LOG_LIMIT = 50;
const CONTENT = FIRST_ATTEMPT_CONTENT.map((name) => `'${name}'`).join(', ');

/**
 * The log of a delivery: its first attempt in its record, if it fits there (first-attempt.ts), then the others in a list
 * (attempt-record.ts). `record` is the key of the record.
 *
 * `isLogged(record, attempt, first, known)` tells whether an attempt is in the log, `logAttempt(record, attempt, first,
 * known, fields)` adds it and tells whether there is a list, and `countLogged(record)` counts. attempt: its entry in the
 * list; first: its fields in the record, nil when it isn't the first or doesn't fit there; known: the FIRST_ATTEMPT of
 * the record; fields: those of the record that the caller writes afterwards.
 *
 * `factsOf(first)` are the fields without what the receiver answered. `eraseFirst(record)` removes that from the record,
 * and tells whether there was any.
 */
export const FIRST_ATTEMPT_LUA = /* lua */ `
local function isLogged(record, attempt, first, known)
  -- A delivery has no two attempts of the same time and duration. The answer may have been erased meanwhile.
  if first and first[2] == known then return true end
  return redis.call('LPOS', record .. ':a', attempt) ~= false
end

local function logAttempt(record, attempt, first, known, fields)
  local list = record .. ':a'
  if first and not known and redis.call('EXISTS', list) == 0 then
    for _, each in ipairs(first) do fields[#fields + 1] = each end
    return false
  end
  local length = redis.call('RPUSH', list, attempt)
  if length < ${ATTEMPT_LOG_LIMIT} then return true end
  -- The oldest leaves.
  if known then redis.call('HDEL', record, '${FIRST_ATTEMPT}', ${CONTENT}) end
  redis.call('LTRIM', list, -${ATTEMPT_LOG_LIMIT}, -1)
  return true
end

local function countLogged(record)
  return redis.call('HEXISTS', record, '${FIRST_ATTEMPT}') + redis.call('LLEN', record .. ':a')
end

local function factsOf(first) return first and { first[1], first[2] } end

local function eraseFirst(record) return redis.call('HDEL', record, ${CONTENT}) > 0 end
`;
