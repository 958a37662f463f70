import { join } from 'node:path';
import { findService } from './demo/find-service.ts';
import { playDemo } from './demo/play-demo.ts';
import { createTimeline } from './demo/timeline.ts';
import { createConsoleLink } from './local/create-console-link.ts';

/** The delivery that the last line leads to has the most to see. */
const SHOWN_EVENT = 'task.requires_action';

/** The exit code is 0 when every delivery arrived once, with valid signatures. */
async function run(aborted: AbortSignal): Promise<number> {
  await using service = await findService(join(import.meta.dirname, '..'), process.env);
  console.log(
    service.isOwn
      ? `npm start is not running: this is a service of the demo's own, at ${service.apiUrl}.\n`
      : `Using the service of npm start, at ${service.apiUrl}.\n`,
  );
  const timeline = createTimeline(console.log);
  const faults = await playDemo(service, timeline, aborted);
  const { arrivals } = timeline;
  const verified = arrivals.filter(({ problems }) => problems.length === 0).length;
  const duplicates = arrivals.filter(({ isDuplicate }) => isDuplicate).length;
  console.log(`\n${arrivals.length} deliveries, ${verified} verified, ${duplicates} duplicates.`);
  for (const fault of faults) console.error(`FAULT  ${fault}`);
  if (faults.length === 0) console.log('Everything arrived once, with valid signatures.');
  const last = arrivals.findLast(({ endpoint, event }) => endpoint === 'receiver' && event === SHOWN_EVENT);
  // A service of the demo's own ends with it.
  if (last && !service.isOwn) {
    const link = await createConsoleLink(service.apiUrl, service.apiKey);
    console.log(`\nLook at one of them: ${link.to(`/deliveries/${last.deliveryId}`)}`);
  }
  return faults.length === 0 ? 0 : 1;
}

// The first Ctrl-C removes the receiver and stops a service that the demo has started; a second one kills both at once.
const interruption = new AbortController();
const interruptedAt: number[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interruptedAt.push(performance.now());
    if (performance.now() - (interruptedAt[0] ?? 0) > 1_000) process.exit(130);
    interruption.abort(new Error('Interrupted.'));
  });
}

try {
  process.exit(await run(interruption.signal));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(interruption.signal.aborted ? 130 : 1);
}
