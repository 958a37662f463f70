import {
  NotFoundError,
  PayloadErasedError,
  PayloadNotKeptError,
  ReceiverDisabledError,
  ReceiverLockedError,
} from '@herald/core';
import { createRedeliver, type RedeliverDeps } from './delivery-log.ts';

const [WORKSPACE, ID, ENDPOINT] = ['ws_1', 'dlv_1', 'wh_1'];
type Reply = Awaited<ReturnType<RedeliverDeps['log']['redeliver']>>;
type Refusal = Exclude<Reply['kind'], 'pending'>;

/** What comes of a reply, and what operators were told. */
async function redeliver(reply: object) {
  const told: string[] = [];
  const run = createRedeliver({
    log: {
      redeliver: () => Promise.resolve(reply as Reply),
      find: () => Promise.resolve({ delivery: { id: ID } } as never),
    },
    report: { requested: (_workspaceId, id) => told.push(id) },
    now: () => 1,
  });
  const [outcome] = await Promise.allSettled([run(WORKSPACE, ID)]);
  return { outcome, told };
}

test('what waits again is answered as it stands then, and told to operators', async () => {
  const { outcome, told } = await redeliver({ kind: 'pending' });
  expect(outcome).toEqual({ status: 'fulfilled', value: { id: ID } });
  expect(told).toEqual([ID]);
});

const REFUSALS: Readonly<Record<Refusal, { readonly more?: object; readonly error: Error }>> = {
  missing: { error: new NotFoundError('delivery', ID) },
  removed: { error: new NotFoundError('receiver', 'of this delivery any more') },
  erased: { error: new PayloadErasedError(ID) },
  not_kept: { error: new PayloadNotKeptError(ID) },
  disabled: { more: { endpointId: ENDPOINT }, error: new ReceiverDisabledError(ENDPOINT) },
  locked: { more: { endpointId: ENDPOINT, reason: 'a storm' }, error: new ReceiverLockedError(ENDPOINT, 'a storm') },
};

test.each(Object.entries(REFUSALS))(
  'the reply %s is refused with its reason, and told to nobody',
  async (kind, { more, error }) => {
    const { outcome, told } = await redeliver({ kind, ...more });
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: error.name, message: error.message } });
    expect(told).toEqual([]);
  },
);
