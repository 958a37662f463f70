/** CPU of one delivery, its part of the transition included, in µs. */
export type DeliveryCosts = {
  readonly apiUs: number;
  readonly workerUs: number;
  /** Accepting and sending. */
  readonly redisUs: number;
};

/** Numbers of processes: one of Node or of Redis uses one core. */
export type Size = Readonly<Record<'apis' | 'workers' | 'masters', number>>;

/** Mean share of a core that a process may use, which leaves room for peaks. */
export const BUSY = 0.7;

/** The processes of each kind that a rate of deliveries keeps busy. */
export function sizeFor(perSecond: number, { apiUs, workerUs, redisUs }: DeliveryCosts): Size {
  const processes = (us: number) => Math.ceil((perSecond * us) / 1_000_000 / BUSY);
  return { apis: processes(apiUs), workers: processes(workerUs), masters: processes(redisUs) };
}
