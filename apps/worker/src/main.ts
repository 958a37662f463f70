import { createLogger, type Logger } from '@herald/runtime/log';
import { readWorkerConfig } from '@herald/config/worker-config';
import { runProcess } from '@herald/runtime/lifecycle';
import { explainStartFailure } from '@herald/store/redis/open-when-usable';
import { startWorker } from './worker.ts';

let logger: Logger | undefined;
let stopLimitMs = 0;

await runProcess({
  start: (signal) => {
    const config = readWorkerConfig(process.env);
    stopLimitMs = config.deliveryTimeoutMs + 5_000;
    logger = createLogger({ level: config.logLevel, process: 'worker', readable: process.stdout.isTTY });
    // A worker that can't recover ends, and its supervisor starts another.
    return startWorker(config, logger, signal, () => process.exit(1));
  },
  explain: explainStartFailure,
  logger: () => logger,
  stopLimitMs: () => stopLimitMs,
});
