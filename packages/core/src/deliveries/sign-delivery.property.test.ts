import { createHmac } from 'node:crypto';
import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { createSigningKey, newSigningSecret } from '../endpoints/endpoint.ts';
import { EVENT_NAMES } from '../events.ts';
import { deliveryIdOf, DeliveryIdText } from '../ids/ids.ts';
import { signatureHeaders } from './sign-delivery.ts';

const RUNS = { numRuns: 500 };

const delivery = fc.record({
  transitionId: fc.string({ unit: anyCharacter }),
  endpointId: fc.string({ unit: anyCharacter }),
  event: fc.constantFrom(...EVENT_NAMES),
  json: fc.json({ stringUnit: anyCharacter }),
});

test('the published Standard Webhooks library verifies every body, under either secret of a rotation', () => {
  fc.assert(
    fc.property(delivery, ({ transitionId, endpointId, event, json }) => {
      const [current, previous] = [newSigningSecret(), newSigningSecret()];
      const id = deliveryIdOf(transitionId, endpointId);
      const body = Buffer.from(json);
      const keys = { current: createSigningKey(current), previous: createSigningKey(previous) };
      const headers = signatureHeaders({ id, event, body, now: Date.now() }, keys);
      for (const secret of [current, previous]) {
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body.toString()));
      }
      expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow('signature');
      expect(() => new Webhook(current).verify(Buffer.concat([body, Buffer.from(' ')]), headers)).toThrow('signature');
    }),
    RUNS,
  );
});

test("the service's own signature is the HMAC of the bytes, whatever they are", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_048 }), (bytes) => {
      const secret = newSigningSecret();
      const body = Buffer.from(bytes);
      const headers = signatureHeaders(
        { id: 'dlv_1', event: 'task.done', body, now: 0 },
        { current: createSigningKey(secret) },
      );
      const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(bytes).digest('hex');
      expect(headers['x-service-signature']).toBe(`sha256=${expected}`);
    }),
    RUNS,
  );
});

test('a delivery id has its form, is the same every time, and another for another endpoint', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: anyCharacter }),
      fc.string(),
      (transition, endpoint, other) => {
        const id = deliveryIdOf(transition, endpoint);
        expect(DeliveryIdText.safeParse(id).success).toBe(true);
        expect(deliveryIdOf(transition, endpoint)).toBe(id);
        expect(deliveryIdOf(transition, other) === id).toBe(other === endpoint);
      },
    ),
    RUNS,
  );
});
