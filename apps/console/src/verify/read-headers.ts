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

function readLine(line: string): [string, string][] {
  const bare = line
    .trim()
    .replace(/^(-H|--header)\s+/, '')
    .replace(/\s*\\$/, '')
    .replace(/^(['"])(.*)\1,?$/, '$2');
  const [, name, value] = /^['"]?([\w-]+)['"]?\s*:\s*(.*)$/.exec(bare) ?? [];
  return name === undefined || value === undefined
    ? []
    : [[name.toLowerCase(), value.replace(/^(['"])(.*)\1,?$/, '$2')]];
}
