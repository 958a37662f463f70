export type MishapName = 'Redis is full' | 'the reply is lost' | 'its slot moves' | 'Redis forgot it' | 'two at once';

/**
 * What is wrong today, by mishap: the scenes of scripts, as `nameOf` names them. The harness refuses what isn't listed,
 * and what is listed and right by now.
 */
export const KNOWN_FAILURES: Readonly<Record<MishapName, readonly string[]>> = {
  /** It is refused, though it frees memory, or ends or holds what was begun. */
  'Redis is full': [
    'CLAIM_IDS_LUA',
    'ERASE_TASK_LUA',
    'ERASE_TRANSITION_LUA',
    'EXTEND_LEASES_LUA',
    'NOTE_ERASED_LUA',
    'PATCH_RECEIVER_LUA, when it is disabled',
    'PAUSE_LUA, when it stops',
    'STOP_REPLAY_LUA',
    'TAKE_SETTLED_LUA',
    'createReserveScript, when a destination is slow',
  ],
  /** Each call counts: the client can't tell that the first was done. The key versions then count one use too many. */
  'the reply is lost': [
    'ADD_ENTRY_LUA, when the trail is full',
    'PATCH_RECEIVER_LUA, when its url changes',
    'REDELIVER_LUA',
  ],
  'its slot moves': [],
  'Redis forgot it': [],
  'two at once': [],
};
