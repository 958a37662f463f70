import { createLogger, readApiConfig, runProcess, type Logger } from '@herald/infra';
import { startApi } from './start-api.ts';

const STOP_LIMIT_MS = 15_000;

let logger: Logger | undefined;

await runProcess({
  start: () => {
    const config = readApiConfig(process.env);
    logger = createLogger({ level: config.logLevel, process: 'api', readable: process.stdout.isTTY });
    // An API whose connections don't recover leaves it to its supervisor to start another.
    return startApi(config, logger, () => process.exit(1));
  },
  logger: () => logger,
  stopLimitMs: () => STOP_LIMIT_MS,
});
