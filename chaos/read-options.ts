import { parseArgs } from 'node:util';

export type ChaosOptions = {
  /** How long things go wrong; recovery comes on top. */
  readonly seconds: number;
  readonly seed: number;
  /** Prints what would go wrong, and ends. */
  readonly plan: boolean;
};

export const USAGE = `npm run chaos -- [options]

  --seconds <n>  how long things go wrong (60); recovery comes on top
  --seed <n>     what goes wrong and when follows from it (drawn, and printed)
  --plan         print what would go wrong, and end`;

/** @throws Error with a sentence for whoever typed it */
export function readOptions(args: readonly string[], drawnSeed: number): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(drawnSeed) },
      plan: { type: 'boolean', default: false },
    },
  });
  return {
    seconds: readWhole('seconds', values.seconds, 5, 86_400),
    seed: readWhole('seed', values.seed, 0, 2 ** 32 - 1),
    plan: values.plan,
  };
}

function readWhole(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number;
  throw new Error(`--${option} must be a whole number from ${least} to ${most}, not ${text}`);
}
