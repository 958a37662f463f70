import { createLogger, readWorkerConfig, runProcess, type Logger } from '@herald/infra';
import { startWorker } from './start-worker.ts';

let logger: Logger | undefined;
let stopLimitMs = 0;

await runProcess({
  start: () => {
    const config = readWorkerConfig(process.env);
    stopLimitMs = config.deliveryTimeoutMs + 5_000;
    logger = createLogger({ level: config.logLevel, process: 'worker', readable: process.stdout.isTTY });
    // A worker that hangs and can't be helped leaves it to its supervisor to start another.
    return startWorker(config, logger, () => process.exit(1));
  },
  logger: () => logger,
  stopLimitMs: () => stopLimitMs,
});
