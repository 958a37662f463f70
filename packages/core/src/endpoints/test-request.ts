import { z } from 'zod';
import { EventName } from '../events.ts';

/** Body of `POST /api/public/webhooks/{id}/test`. */
export const RequestTest = z
  .strictObject({
    event: EventName.default('webhook.test').meta({
      description: '`webhook.test`, or the event of a Task to send a sample of.',
    }),
  })
  .meta({ id: 'RequestTest', examples: [{ event: 'task.done' }] });
