import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { JobStatus, Status } from '@bull-board/api/typings/app';

export type DeliveryAdapterOptions = {
  readonly title: string;
  readonly description: string;
  readonly canWrite: boolean;
  /** Returns the answer of `INFO`. */
  readonly readRedisInfo: () => Promise<string>;
};

const STATES: JobStatus[] = ['active', 'waiting', 'delayed', 'failed'];

/** bull-board's own adapter without the states, buttons and pages that mean nothing for deliveries. */
export class DeliveryAdapter extends BullMQAdapter {
  readonly #readRedisInfo: () => Promise<string>;

  constructor(
    queue: ConstructorParameters<typeof BullMQAdapter>[0],
    { title, description, canWrite, readRedisInfo }: DeliveryAdapterOptions,
  ) {
    super(queue, { displayName: title, description, delimiter: '.', readOnlyMode: !canWrite });
    this.#readRedisInfo = readRedisInfo;
  }

  override getStatuses(): Status[] {
    return ['latest', ...STATES];
  }
  override getJobStatuses(): JobStatus[] {
    return [...STATES];
  }
  /** The backend does not expose its connection. */
  override getRedisInfo(): Promise<string> {
    return this.#readRedisInfo();
  }
  override getFlowProducer(): Promise<null> {
    return Promise.resolve(null);
  }
  override get supportsGlobalRateLimit(): boolean {
    return false;
  }
}
