type Info = Readonly<Record<string, unknown>>;

/** One log line for a person at a terminal: time, level, process, event, and the facts as `name=value`. */
export function toReadableLine({ level, message, timestamp, process, stack, ...fields }: Info): string {
  const time = text(timestamp).slice(11, 23);
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${text(value)}`);
  const line = [time, text(level).toUpperCase().padEnd(5), text(process).padEnd(6), text(message), ...facts].join(' ');
  return stack === undefined ? line : `${line}\n    ${text(stack)}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
