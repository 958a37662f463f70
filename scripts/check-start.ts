import { join } from 'node:path';
import { localFolderOf } from '@herald/config/running-service';
import { readLocalSettings } from './local/local-settings.ts';
import { refuseSecondService } from './local/running-service.ts';
import { refuseTakenPorts } from './local/refuse-taken-ports.ts';

// `npm start` runs this before it builds: what would keep the service from starting is said at once.
try {
  const settings = readLocalSettings(process.env);
  refuseSecondService(localFolderOf(join(import.meta.dirname, '..'), process.env));
  await refuseTakenPorts(settings);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
