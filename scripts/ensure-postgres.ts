import { ensurePostgres } from './local/ensure-postgres.ts';

// Runs before `npm test`. The tests start, kill and restart their own servers, and never touch HISTORY_URL.
try {
  ensurePostgres();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
