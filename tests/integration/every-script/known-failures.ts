export type MishapName =
  | 'a write is refused'
  | 'Redis is full'
  | 'the reply is lost'
  | 'its slot moves'
  | 'Redis forgot it'
  | 'two at once';

/**
 * What is wrong today, by mishap: the scenes of scripts, as `nameOf` names them. The harness refuses what isn't listed,
 * and what is listed and right by now.
 */
export const KNOWN_FAILURES: Readonly<Record<MishapName, readonly string[]>> = {
  /**
   * Redis refuses a write amid the script, the writes before it stay, and the same call then does not mend them. Only a
   * slot that moves does this today (a full Redis refuses the first write or none): what looks at a key that isn't there
   * before it writes is safe from it, whatever this list says.
   */
  'a write is refused': [
    'ACCEPT_TRANSITIONS_LUA, when the Task knows a fact',
    'ACCEPT_TRANSITIONS_LUA, when the Task knows none',
    'ACQUIRE_RECORD_LUA',
    'ADD_ENTRY_LUA, when the trail is full',
    'ADD_MESSAGE_LUA',
    'COPY_ENTRIES_LUA',
    'CREATE_REPLAY_LUA',
    'CREATE_TASK_LUA',
    'CREATE_TEST_EVENT_LUA',
    'END_DELIVERY_LUA',
    'ENQUEUE_PENDING_LUA',
    'ENTER_LUA of shard-record',
    'ERASE_TRANSITION_LUA',
    'EXPIRE_SETTLED_LUA',
    'FORGET_MOVED_LUA',
    'PATCH_CALLBACK_LUA',
    'PATCH_RECEIVER_LUA, when its url changes',
    'PURGE_LUA',
    'PUT_BACK_LUA',
    'RECORD_ATTEMPTS_LUA, when it is tried again',
    'RECORD_ATTEMPTS_LUA, when it was delivered, and another is next in its line',
    'RECORD_ATTEMPTS_LUA, when the receiver is gone, and the platform is told',
    'RECOVER_LUA',
    'REDELIVER_LUA',
    'REGISTER_RECEIVER_LUA',
    'REMOVE_RECEIVER_LUA',
    'REPLACE_SECRET_LUA',
    'RESOLVE_APPROVAL_LUA',
    'STEP_REPLAY_LUA',
    'STOP_REPLAY_LUA',
    'TAKE_OVER_BREAKERS_LUA',
    'createFinishScript',
    'createReserveScript',
    'createReserveScript, when a destination is slow',
  ],
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
    'ROTATE_SECRET_LUA',
  ],
  /** Parts of it are done, or keys are on two nodes. */
  'its slot moves': [
    'ACCEPT_TRANSITIONS_LUA, when the Task knows a fact',
    'END_DELIVERY_LUA',
    'ENQUEUE_PENDING_LUA',
    'ERASE_TRANSITION_LUA',
    'EXPIRE_SETTLED_LUA',
    'PURGE_LUA',
    'PUT_BACK_LUA',
    'RECORD_ATTEMPTS_LUA, when it is tried again',
    'RECORD_ATTEMPTS_LUA, when it was delivered, and another is next in its line',
    'RECORD_ATTEMPTS_LUA, when the receiver is gone, and the platform is told',
    'RECOVER_LUA',
    'REDELIVER_LUA',
    'TAKE_OVER_BREAKERS_LUA',
    'createFinishScript',
  ],
  'Redis forgot it': [],
  'two at once': [],
};
