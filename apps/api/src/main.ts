import { createLogger, readApiConfig, runProcess, type Logger } from '@herald/infra';
import { startApi } from './start-api.ts';

const STOP_LIMIT_MS = 15_000;

let logger: Logger | undefined;

await runProcess({
  start: () => {
    const config = readApiConfig(process.env);
    logger = createLogger({ level: config.logLevel, process: 'api', readable: process.stdout.isTTY });
    return startApi(config, logger);
  },
  logger: () => logger,
  stopLimitMs: () => STOP_LIMIT_MS,
});
