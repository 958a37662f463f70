import { z } from 'zod';

const Manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  description: z.string().min(1),
  license: z.string(),
  keywords: z.array(z.string()).min(3),
  repository: z.object({ type: z.literal('git'), url: z.string(), directory: z.string() }),
  engines: z.object({ node: z.string() }),
  private: z.undefined({ error: 'a private package can not be published' }).optional(),
});

/** Dependencies of any kind: a private one can't be installed, and names what is nobody's business. */
const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** What of a packed package.json is wrong for others; empty: nothing. */
export function judgeManifest(manifest: unknown): string[] {
  const parsed = Manifest.safeParse(manifest);
  const problems = parsed.success ? [] : [z.prettifyError(parsed.error)];
  const fields = manifest as Record<string, unknown>;
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
