import { parseArgs } from 'node:util';
import { runListen } from './listen/run-listen.ts';
import type { Terminal } from './arguments/terminal.ts';
import { runTrigger } from './trigger/run-trigger.ts';
import { USAGE, UsageError } from './arguments/usage.ts';
import { runVerify } from './verify/run-verify.ts';

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
  if (['', 'help', '--help', '-h'].includes(name)) {
    terminal.say(USAGE);
    return name === '' ? 2 : 0;
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
