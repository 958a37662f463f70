/** What people look for before they install a package. */
const NEEDED = ['name', 'version', 'description', 'license', 'keywords', 'repository', 'homepage', 'bugs', 'engines'];

/** Dependencies of any kind: a private one can't be installed, and names what is nobody's business. */
const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** What of a packed package.json is wrong for others; empty: nothing. */
export function judgeManifest(manifest: unknown): string[] {
  const fields = manifest as Readonly<Record<string, unknown>>;
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const problems = NEEDED.filter((name) => isEmpty(fields[name])).map((name) => `${name} is missing`);
  if (fields.private !== undefined) problems.push('a private package can not be published');
  for (const kind of DEPENDENCIES) {
    for (const name of Object.keys(fields[kind] ?? {})) {
      if (name.startsWith('@herald/')) problems.push(`${kind} names ${name}, which is not published`);
    }
  }
  if (JSON.stringify(fields.exports ?? {}).includes('"source":')) {
    problems.push('exports has the condition source, which is for the repository alone');
  }
  return problems;
}
