import type { Endpoint, EndpointDisabling, EndpointOrdering } from '@herald/core';
import type { z } from 'zod';
import { ReceiverView, toDisablingView, toOrderingView } from '../receivers/receiver-view.ts';

/** A Task's callback as its workspace sees it: never with its secret. */
export const CallbackView = ReceiverView.pick({
  url: true,
  events: true,
  enabled: true,
  ordering: true,
  orderingTimeoutSeconds: true,
  orderingTimeout: true,
  disabledAt: true,
  disabledReason: true,
  disabledBy: true,
  lockedReason: true,
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
      orderingTimeoutSeconds: 86_400,
      orderingTimeout: '24h',
    },
  ],
});
export type CallbackView = z.infer<typeof CallbackView>;

type ShownCallback = EndpointOrdering &
  EndpointDisabling &
  Pick<Endpoint, 'url' | 'events' | 'enabled' | 'headerNames'>;

export function toCallbackView(callback: ShownCallback): CallbackView {
  const { url, events, enabled, headerNames } = callback;
  return {
    url,
    events: [...events],
    enabled,
    ...toOrderingView(callback),
    ...toDisablingView(callback),
    ...(headerNames && { headerNames: [...headerNames] }),
  };
}
