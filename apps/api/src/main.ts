import { createLogger, type Logger } from '@herald/runtime/log/logger';
import { readApiConfig } from '@herald/config/api-config';
import { runProcess } from '@herald/runtime/lifecycle/run-process';
import { explainStartFailure } from '@herald/store/redis/explain-start-failure';
import { startApi } from './start-api.ts';

const STOP_LIMIT_MS = 15_000;

let logger: Logger | undefined;

await runProcess({
  start: (signal) => {
    const config = readApiConfig(process.env);
    logger = createLogger({ level: config.logLevel, process: 'api', readable: process.stdout.isTTY });
    // If the connections do not recover, the process ends and its supervisor starts another.
    return startApi(config, logger, signal, () => process.exit(1));
  },
  explain: explainStartFailure,
  logger: () => logger,
  stopLimitMs: () => STOP_LIMIT_MS,
});
