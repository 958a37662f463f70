import { createHeraldAccess, createServiceEnv } from '../../apps/cli/src/context/open-herald.ts';
import { createOutput } from '../../apps/cli/src/context/create-output.ts';
import { createProgram } from '../../apps/cli/src/create-program.ts';
import { createStartProgress } from '../../apps/cli/src/context/command-deps.ts';
import { renderTable } from './render-table.ts';

type Program = ReturnType<typeof createProgram>;

/** `docs/cli.md`, before its lines are wrapped. */
export function renderCommands(): string {
  const commands = leavesOf(buildProgram());
  return `# The command line

\`herald\` works directly on the service's Redis, without HTTP and without a key; no API and no worker needs to run. It reads
\`REDIS_URL\`, \`REDIS_CLUSTER_NODES\` or \`REDIS_SENTINELS\`, and \`SHARDS\` and \`RETENTION\` if the service sets them. Without an
address of Redis it uses the service of \`npm start\`, and says on stderr whether that runs. Run it as
\`npx --no-install herald <command>\` (or \`npm run --silent herald -- <command>\`) in the folder of the repository, after
\`npm run build\`, and as \`herald <command>\` in the image.

- An id is enough. No command needs the workspace of a delivery, a receiver or a portal link.
- A terminal gets tables and relative times. A pipe gets tab-separated columns with a header line and exact times.
  \`--json\` prints one document (camelCase, ISO times, null for what there is not); every command has it.
- Results go to stdout, everything else to stderr.
- The exit code is 0, also with warnings. It is 1 if something is wrong, the command was mistyped, a test event was not
  delivered, or something is left to do.
- What a command changes is in [the audit trail](audit.md) before it says that it is done. If the trail can't be written,
  the change stands, stderr says so, and the exit code is 1.
- No command prints a secret, except \`keys create\` its new key. A key that is given where an id belongs is not repeated.
- \`--help\` of a command says the same as this page.

${renderTable(
  ['command', 'what it does'],
  commands.map((command) => [
    `[\`${nameOf(command)}\`](#${nameOf(command).replaceAll(' ', '-')})`,
    command.description(),
  ]),
)}

${commands.map(renderCommand).join('\n\n')}

\`npm run docs:reference\` makes this page from the commands in \`apps/cli/src\`.
`;
}

/** The program as the command builds it; nothing of it runs. */
function buildProgram(): Program {
  const { stdout, stderr } = process;
  const serviceEnv = createServiceEnv({ env: {}, localFolder: '', note: () => undefined });
  const { openHerald, now } = createHeraldAccess(serviceEnv);
  const output = createOutput({ stdout, stderr, env: {}, now, setExitCode: () => undefined });
  return createProgram(
    {
      openHerald,
      now,
      serviceEnv,
      output,
      startProgress: createStartProgress(stderr),
      readInput: () => Promise.resolve(''),
      recordAct: () => Promise.resolve(),
      onInterrupt: () => undefined,
      setExitCode: () => undefined,
    },
    { stdout, stderr },
  );
}

/** Commands that do something, in the order of the help. */
function leavesOf(program: Program): Program[] {
  return program.commands.flatMap((each) => (each.commands.length > 0 ? leavesOf(each) : [each]));
}

/** Without the program's own name. */
function nameOf(command: Program): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function renderCommand(command: Program): string {
  const help = command.createHelp();
  const usage = `\`herald ${nameOf(command)} ${command.usage()}\``;
  const rows = [
    ...help.visibleArguments(command).map((each) => [`\`${help.argumentTerm(each)}\``, help.argumentDescription(each)]),
    ...command.options.map((each) => [`\`${help.optionTerm(each)}\``, help.optionDescription(each)]),
  ];
  return [
    `## ${nameOf(command)}`,
    `${usage}: ${command.description()}.`,
    renderTable(['argument or option', 'meaning'], rows),
    examplesOf(command),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The examples at the end of the command's help. */
function examplesOf(command: Program): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  const [, lines = ''] = text.split('\nExamples:\n');
  const examples = lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return examples.length === 0 ? '' : `Examples:\n\n${examples.map((line) => `- \`${line}\``).join('\n')}`;
}
