import { VARIABLE_TEXTS, type VariableText } from '@herald/config/variables';
import { renderCommands } from './render-commands.ts';
import { renderErrors } from './render-errors.ts';
import { renderMetrics } from './render-metrics.ts';
import { renderOperations } from './render-operations.ts';
import { renderTable } from './render-table.ts';

/** The pages of docs/ that `npm run docs:reference` writes, by their names. */
export const REFERENCE_PAGES: Readonly<Record<string, () => string>> = {
  'cli.md': renderCommands,
  'configuration.md': renderConfiguration,
  'errors.md': renderErrors,
  'http-operations.md': renderOperations,
  'metrics.md': renderMetrics,
};

/** Variables that Herald's own code doesn't read. */
const OF_OTHERS: Readonly<Record<string, VariableText>> = {
  NODE_EXTRA_CA_CERTS: {
    readBy: 'all (Node itself)',
    what: "A PEM file with your own authority, if it signed Redis' certificates",
    usual: { without: 'none' },
  },
  NODE_OPTIONS: {
    readBy: 'api, worker (Node itself)',
    what: 'Outside of the image, `--max-semi-space-size=16 --v8-pool-size=1`: [shorter pauses, less memory](performance.md#where-the-time-goes)',
    usual: { without: 'none; the image sets it' },
  },
  HERALD_DIR: {
    readBy: '`npm start`, `npm run demo`, `herald` beside them',
    what: 'The folder in which `npm start` keeps its data, its keys and its certificate authority',
    usual: '.herald',
  },
  RUNBOOK_URL: {
    readBy: '`docker-compose.yml`',
    what: 'Your copy of docs/runbook.md, to which alerts link',
    usual: { without: 'the path in the repository' },
  },
};

/** `docs/configuration.md`, before its lines are wrapped. */
function renderConfiguration(): string {
  const groups = [...Object.entries(VARIABLE_TEXTS), ['Read by others', OF_OTHERS] as const];
  return `# Configuration

Both processes, and \`herald\`, read their configuration from the environment once. If anything is wrong, a process refuses to
start and lists all of it. It also checks Redis, and refuses to start with one sentence that says what to set
([runbook](runbook.md#a-start-that-redis-makes-impossible)). \`herald doctor\` checks the same beforehand.

Blanks and line ends around a value don't count; a line end within one is refused. A variable that is set but empty
counts as unset, except \`RETRY_SCHEDULE\` and \`CALLBACK_RETRY_SCHEDULE\`. Durations take
ms, s, m, h, d. \`.env.example\` has every variable with a comment, ready for \`docker-compose.yml\`.

${groups.map(([heading, variables]) => `## ${heading}\n\n${renderVariables(variables)}`).join('\n\n')}

\`npm run docs:reference\` makes this page from \`packages/config/src/variables.ts\`.
`;
}

function renderVariables(variables: Readonly<Record<string, VariableText>>): string {
  const rows = Object.entries(variables).map(([name, { readBy, what, usual }]) => [
    `\`${name}\``,
    readBy,
    what,
    typeof usual === 'string' ? `\`${usual}\`` : usual.without,
  ]);
  return renderTable(['variable', 'read by', 'what it sets', 'default'], rows);
}
