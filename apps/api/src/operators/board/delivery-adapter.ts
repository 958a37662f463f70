import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { JobStatus, Status } from '@bull-board/api/typings/app';

export type DeliveryAdapterOptions = {
  readonly title: string;
  readonly description: string;
  readonly canWrite: boolean;
  /** What Redis says of itself. */
  readonly readRedisInfo: () => Promise<string>;
};

const STATES: JobStatus[] = ['active', 'waiting', 'delayed', 'failed'];

/** bull-board's own adapter, but for what there is not: a state, a button or a page of it would only confuse. */
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
  /** Its connection is not the backend's to show. */
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
