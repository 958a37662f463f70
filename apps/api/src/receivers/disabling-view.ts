import { DISABLED_REASONS, type EndpointDisabling } from '@herald/core';
import { z } from 'zod';
import { TimeText, toTime } from '../http/to-time.ts';

/** Since when, why and by whom a receiver or a callback is disabled; absent while it is enabled. */
export const DisablingFields = {
  disabledAt: TimeText.exactOptional(),
  disabledReason: z
    .enum(DISABLED_REASONS)
    .meta({
      description:
        '`by_request`: somebody disabled it. `locked`: the platform disabled it, and only the platform enables it again. `gone`: it answered 410. `failing`: it failed for too long without one success.',
    })
    .exactOptional(),
  disabledBy: z
    .string()
    .meta({
      description:
        'Who disabled it: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for whoever runs the service, or `herald` by itself. Absent when that was not noted yet.',
      examples: ['platform'],
    })
    .exactOptional(),
  lockedReason: z
    .string()
    .meta({ description: 'What the platform says about a lock. Absent when it says nothing.' })
    .exactOptional(),
};

export function toDisablingView({ disabledAt, disabledReason, disabledBy, lockedReason }: EndpointDisabling) {
  if (disabledAt === undefined) return {};
  return {
    disabledAt: toTime(disabledAt),
    ...(disabledReason !== undefined && { disabledReason }),
    ...(disabledBy !== undefined && { disabledBy }),
    ...(disabledReason === 'locked' && lockedReason !== undefined && { lockedReason }),
  };
}
