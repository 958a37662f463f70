import type { LogFields, Logger } from '@herald/runtime/log';

/** A logger that notes each line as its level, its event, and the `code` of its fields where there is one. */
export function createEventLog(events: string[]): Logger {
  const note = (level: string) => (event: string, fields?: LogFields) => {
    const code = fields?.code;
    events.push([level, event, ...(code === undefined ? [] : [code])].join(' '));
  };
  return { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') };
}
