// A receiver in Express. It verifies each delivery, keeps its event in a file, and answers; the work comes afterwards.
import { createExpressHandler, createMemoryStore, type HeraldEvent } from '@herald/receiver';
import express from 'express';
import { appendFile } from 'node:fs/promises';

const { HERALD_SECRETS = '', EVENTS = 'events.jsonl', HOST = '127.0.0.1', PORT = '3000' } = process.env;

const app = express();
app.post(
  '/hooks/herald',
  createExpressHandler({
    // One secret, or while it is being rotated the new one and the old one.
    secrets: HERALD_SECRETS.split(','),
    // Forgets at a restart, so that a repeat of a delivery is kept twice then: in production use createRedisStore.
    store: createMemoryStore(),
    handle: keep,
  }),
);
app.get('/healthz', (_req, res) => {
  res.json({ status: 'ok' });
});
// Body parsers come after the webhook's route: a signature covers the bytes as they came.
app.use(express.json());

/** Called once per delivery, until it succeeds: when it throws, Herald sends the delivery again. */
async function keep(event: HeraldEvent, { id }: { id: string }): Promise<void> {
  await appendFile(EVENTS, `${JSON.stringify({ delivery: id, event: event.event, ...factsOf(event) })}\n`);
}

/** What this program goes by. Ids lead to the rest: `GET /tasks/{id}` has the result of a Task. */
function factsOf(event: HeraldEvent): object {
  switch (event.event) {
    case 'task.check_in':
      return { task: event.task.id, says: event.outcome.summary };
    case 'task.requires_action':
      return { task: event.task.id, asks: event.approval_request.title, at: event.action_url };
    case 'task.done':
    case 'task.canceled':
      return { task: event.task.id };
    case 'webhook.test':
      return {};
    case 'unknown': // from a Herald newer than this kit
      return { name: event.name };
  }
}

const server = app.listen(Number(PORT), HOST, () => {
  console.log(`listening on ${PORT}`);
});
// What is under way gets its answer. What isn't answered, Herald sends again.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());
