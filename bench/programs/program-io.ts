/** The input of this program from the bench. */
export function readInput(): unknown {
  return JSON.parse(process.env.BENCH_INPUT ?? '{}');
}

export function reply(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
