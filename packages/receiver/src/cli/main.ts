import { parseArgs } from 'node:util';
import { UsageError, type Terminal } from './arguments.ts';
import { version } from './forward.ts';
import { runListen } from './listen.ts';
import { runTrigger } from './trigger.ts';
import { runVerify } from './verify.ts';

const USAGE = `herald-receiver brings webhooks of Herald to a program on this machine, while you develop it.

  herald-receiver listen --api <origin> --key <API key> --forward-to <url> [--events <name,name>] [--secret <whsec_…>]
      Forwards the events of a workspace as they happen, signed, and shows what your program answers.
      The key needs the scope webhooks. HERALD_URL and HERALD_KEY serve instead of --api and --key.

  herald-receiver trigger <event> --forward-to <url> --secret <whsec_…>
      Sends one sample of an event, made and signed on this machine.

  herald-receiver verify <file> --secret <whsec_…>
      Says whether the signatures of a saved request hold, or why not. The file has its headers, an empty line, and
      the body as it came; - reads standard input.

HERALD_SECRETS serves instead of --secret: your program may read the same variable.
`;

type Command = (
  terminal: Terminal,
  values: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
) => Promise<number>;

/** Each with the options that it knows, and how many words follow it. */
const COMMANDS: Readonly<
  Record<string, { readonly run: Command; readonly options: readonly string[]; words: number }>
> = {
  listen: { run: runListen, options: ['api', 'key', 'forward-to', 'events', 'secret'], words: 0 },
  trigger: { run: runTrigger, options: ['forward-to', 'secret'], words: 1 },
  verify: { run: runVerify, options: ['secret'], words: 1 },
};

const terminal: Terminal = {
  env: process.env,
  say: (line) => process.stdout.write(`${line}\n`),
  warn: (line) => process.stderr.write(`${line}\n`),
  now: Date.now,
};

/** Returns the exit code: 0; 1 when it failed; 2 when the arguments can't work. */
async function run([name = '', ...args]: readonly string[]): Promise<number> {
  if (['', 'help'].includes(name) || [name, ...args].some((each) => each === '--help' || each === '-h')) {
    terminal.say(USAGE);
    return name === '' ? 2 : 0;
  }
  if (name === '--version') {
    terminal.say(version);
    return 0;
  }
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new UsageError(`there is no command ${name}: use ${Object.keys(COMMANDS).join(', ')}`);
    const options = Object.fromEntries(command.options.map((option) => [option, { type: 'string' as const }]));
    const { values, positionals } = readArguments(args, options);
    if (positionals.length > command.words)
      throw new UsageError(`${positionals[command.words] ?? ''} is one word too many`);
    return await command.run(terminal, values, positionals);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.warn(`${error.message}\nherald-receiver --help shows how to call it.`);
    return 2;
  }
}

function readArguments(args: string[], options: Record<string, { type: 'string' }>) {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values: values as Record<string, string | undefined>, positionals };
  } catch (error) {
    // Node's sentences name the option.
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

process.exitCode = await run(process.argv.slice(2));
