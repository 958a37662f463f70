/** What charts say. */
export const chartTexts = {
  outcomes: 'Attempts',
  delivered: 'delivered',
  failed: 'failed',
  latency: 'Time to answer',
  counts: (delivered: number, failed: number) => `${delivered} delivered, ${failed} failed`,
  countsLabel: (delivered: number, failed: number) =>
    `Attempts over time: ${delivered} delivered and ${failed} failed in all.`,
  latencyLabel: (title: string, last: string) => `${title} over time. Last: ${last}.`,
  nothing: 'nothing was delivered',
  noAttempt: 'No attempt was made in this time.',
  noLatency: 'Nothing was delivered in this time.',
  window: 'Time range',
  windows: { '1h': '1 hour', '24h': '24 hours', '7d': '7 days' },
  successRate: (percent: string) => `${percent} of attempts succeeded`,
} as const;
