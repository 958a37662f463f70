import type { Finding } from '@herald/runtime/finding';
import { countOf } from '@herald/runtime/text';
import { Command, Option } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { bad, type Cell, doubtful, good, plain } from '../context/create-output.ts';
import { type Check, examine, type Process, PROCESSES } from './examine.ts';

type Line = {
  readonly level: Finding['level'] | 'ok' | 'skipped';
  readonly check: string;
  /** Of a warning or an error; stable. */
  readonly code?: string;
  readonly sentence: string;
};

const PAINT = { ok: good, warning: doubtful, error: bad, skipped: plain };

/** `herald doctor`: finds the problems of a set-up. */
export function createDoctorCommand(deps: CommandDeps): Command {
  const { output } = deps;
  return new Command('doctor')
    .description('check the configuration, Redis and the pending work, and say how to solve each problem')
    .addOption(
      new Option('--for <process>', 'whose variables this environment has; without it: both').choices(PROCESSES),
    )
    .addHelpText(
      'after',
      `
It reads the environment as api and worker do at their start, and starts neither. In Redis it only reads, except for one
key that expires by itself: it tests whether Redis accepts writes. The exit code is 1 with errors, and 0 otherwise.
${examples('herald doctor', 'herald doctor --for worker')}`,
    )
    .action(async ({ for: only, json }: JsonOption & { for?: Process }) => {
      const { checks, skipped } = await examine(deps, only ? [only] : PROCESSES);
      const lines = checks.flatMap(toLines);
      const [errors, warnings] = [countLevel(lines, 'error'), countLevel(lines, 'warning')];
      const status = errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok';
      if (json) output.json({ status, findings: lines, skipped });
      else for (const line of [...lines, ...skipped.map(toSkippedLine)]) output.line(toText(line, output.paint));
      if (errors > 0) output.problem(`Wrong: ${countOf(errors, 'error')}, ${countOf(warnings, 'warning')}.`);
      else if (!json) output.line(warnings === 0 ? 'All is well.' : `It works, with ${countOf(warnings, 'warning')}.`);
    });
}

function toLines({ name, findings, well }: Check): Line[] {
  if (findings.length === 0) return [{ level: 'ok', check: name, sentence: well }];
  return findings.map(({ level, code, sentence }) => ({ level, check: name, code, sentence }));
}

const toSkippedLine = (check: string): Line => ({ level: 'skipped', check, sentence: 'see the errors above first' });

function countLevel(lines: readonly Line[], level: Line['level']): number {
  return lines.filter((line) => line.level === level).length;
}

/** Pads the plain text: colours take no room. */
function toText({ level, check, sentence }: Line, paint: (cell: Cell) => string): string {
  const gap = ' '.repeat('warning'.length - level.length);
  return `${paint(PAINT[level](level))}${gap}  ${check.padEnd('configuration'.length)}  ${paint(sentence)}`;
}
