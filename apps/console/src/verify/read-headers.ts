/** Reads pasted headers: `name: value` by line, as curl's `-H`, or as JSON. Names come in lower case. */
export function readHeaders(text: string): ReadonlyMap<string, string> {
  return readJson(text) ?? new Map(text.split('\n').flatMap((line) => readLine(line)));
}

function readJson(text: string): Map<string, string> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    return new Map(Object.entries(parsed).map(([name, value]) => [name.toLowerCase(), String(value)]));
  } catch {
    return undefined;
  }
}

/** An argument of curl is quoted as a whole, a line of a log by name and value. */
const CURL = /^(?:-H|--header)\s+(['"])(.*)\1\s*\\?$/;
const LINE = /^(['"]?)([\w-]+)\1\s*:\s*(.*)$/;
const QUOTED = /^(['"])(.*)\1,?$/;

function readLine(line: string): [string, string][] {
  const text = line.trim();
  const [, , name, value] = LINE.exec(CURL.exec(text)?.[2] ?? text) ?? [];
  return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.replace(QUOTED, '$2')]];
}
