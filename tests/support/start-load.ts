import { setTimeout as pause } from 'node:timers/promises';
import type { HttpAnswer } from './http-request.ts';
import { checkpoint } from './reports.ts';
import type { Herald } from './start-herald.ts';

const REPORT_LIMIT = 20_000;
const AGAIN_AFTER_MS = 50;

/** Executors that report one checkpoint after the other, each until it is accepted. */
export function startLoad(herald: Herald, taskIds: readonly string[]) {
  const accepted: string[] = [];
  const refused: HttpAnswer[] = [];
  let stopped = false;
  const runLane = async (taskId: string) => {
    for (let index = 0; !stopped && index < REPORT_LIMIT;) {
      const answer = await herald.executor.tryReport(taskId, checkpoint(`c${index}`));
      if (answer.status !== 200) {
        refused.push(answer);
        // As a sender does; without a pause, those who ask take the time of those who should recover.
        await pause(AGAIN_AFTER_MS);
        continue;
      }
      accepted.push((answer.body as { transitionId: string }).transitionId);
      index++;
    }
  };
  const lanes = Promise.all(taskIds.map(runLane));
  return {
    accepted,
    refused,
    /** Ends when every lane has had its last report accepted or refused. */
    async stop() {
      stopped = true;
      await lanes;
    },
  };
}
