import { renderCommands } from './render-commands.ts';
import { renderConfiguration } from './render-configuration.ts';
import { renderErrors } from './render-errors.ts';
import { renderMetrics } from './render-metrics.ts';
import { renderOperations } from './render-operations.ts';

/** The pages of docs/ that `npm run docs:reference` writes, by their names. */
export const REFERENCE_PAGES: Readonly<Record<string, () => string>> = {
  'cli.md': renderCommands,
  'configuration.md': renderConfiguration,
  'errors.md': renderErrors,
  'http-operations.md': renderOperations,
  'metrics.md': renderMetrics,
};
