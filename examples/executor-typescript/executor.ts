// An executor: it takes the Tasks that wait, works on each, and reports what happens. One process of it runs at a time.
import { createExecutorClient, ProblemError } from '@herald/client';
import { setTimeout as pause } from 'node:timers/promises';

const { HERALD_URL = 'http://127.0.0.1:8080', HERALD_EXECUTOR_KEY = '' } = process.env;
const PAUSE_MS = 1_000;

// The client repeats what got no answer. A report is a fact, and counts once however often it is sent.
const herald = createExecutorClient({ baseUrl: HERALD_URL, key: HERALD_EXECUTOR_KEY });

const stop = new AbortController();
const isStopping = () => stop.signal.aborted;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stop.abort();
  });
}

console.log(`working for ${HERALD_URL}`);
while (!isStopping()) {
  // Those that run are what a process before this one began and did not end: they are worked on again.
  for (const status of ['running', 'queued'] as const) {
    for await (const { id } of herald.listTasks({ query: { status } })) {
      if (!isStopping()) await execute(id);
    }
  }
  await pause(PAUSE_MS);
}

async function execute(id: string): Promise<void> {
  const path = { id };
  try {
    const { input } = await herald.readExecutorTask({ path });
    await herald.reportTransition({ path, body: { type: 'start' } });
    const words = JSON.stringify(input ?? null).split(/\s+/).length;
    const outcome = { summary: `Read ${words} words`, progress: 0.5 };
    // Canonical and material: customers are told of it. Each checkpoint has a name of its own.
    await herald.reportTransition({
      path,
      body: { type: 'checkpoint', checkpointId: 'read', canonical: true, material: true, outcome },
    });
    const { status } = await herald.reportTransition({ path, body: { type: 'done', result: { words } } });
    console.log(`${id} is ${status}`);
  } catch (error) {
    // Its customer has canceled it meanwhile, say. Anything else ends this process, and its supervisor starts another.
    if (!(error instanceof ProblemError) || error.code !== 'invalid_transition') throw error;
    console.log(`${id} takes no more reports: ${error.message}`);
  }
}
