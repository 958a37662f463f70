/** What the bench gave this program. */
export function readInput(): unknown {
  return JSON.parse(process.env.BENCH_INPUT ?? '{}');
}

export function reply(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
