/** CPU that one delivery costs, in µs, its part of its transition included. */
export type DeliveryCosts = {
  readonly apiUs: number;
  readonly workerUs: number;
  /** Accepting and sending. */
  readonly redisUs: number;
};

/** Of each, so many: a process of Node and a server of Redis use one core. */
export type Size = Readonly<Record<'apis' | 'workers' | 'masters', number>>;

/** How busy a process may be in the mean, so that peaks find room. */
export const BUSY = 0.7;

/** How many processes of each kind so many deliveries per second keep busy. */
export function sizeFor(perSecond: number, { apiUs, workerUs, redisUs }: DeliveryCosts): Size {
  const processes = (us: number) => Math.ceil((perSecond * us) / 1_000_000 / BUSY);
  return { apis: processes(apiUs), workers: processes(workerUs), masters: processes(redisUs) };
}
