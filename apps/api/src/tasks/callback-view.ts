import type { Endpoint, EndpointOrdering } from '@herald/core';
import type { z } from 'zod';
import { toTime } from '../http/to-time.ts';
import { toOrderingView } from '../receivers/ordering-view.ts';
import { ReceiverView } from '../receivers/receiver-view.ts';

/** A Task's callback as its workspace sees it: never with its secret. */
export const CallbackView = ReceiverView.pick({
  url: true,
  events: true,
  enabled: true,
  ordering: true,
  orderingTimeout: true,
  disabledAt: true,
  disabledReason: true,
  headerNames: true,
}).meta({
  id: 'Callback',
  description: 'The url to which the events of one Task are sent, besides the receivers.',
  examples: [
    {
      url: 'https://hooks.example.com/invoice-42',
      events: [],
      enabled: true,
      ordering: 'none',
      orderingTimeout: '24h',
    },
  ],
});
export type CallbackView = z.infer<typeof CallbackView>;

type ShownCallback = EndpointOrdering &
  Pick<Endpoint, 'url' | 'events' | 'enabled' | 'disabledAt' | 'disabledReason' | 'headerNames'>;

export function toCallbackView(callback: ShownCallback): CallbackView {
  const { url, events, enabled, disabledAt, disabledReason, headerNames } = callback;
  return {
    url,
    events: [...events],
    enabled,
    ...toOrderingView(callback),
    ...(disabledAt !== undefined && { disabledAt: toTime(disabledAt) }),
    ...(disabledAt !== undefined && disabledReason !== undefined && { disabledReason }),
    ...(headerNames && { headerNames: [...headerNames] }),
  };
}
