const UNRELEASED = '## [Unreleased]\n';

/**
 * Turns what is unreleased into a release (Keep a Changelog 1.1.0), and leaves an empty section for what comes next.
 * @param date such as 2030-01-31
 * @throws Error with a sentence, when there is nothing to release or the version is there already
 */
export function releaseChangelog(text: string, version: string, date: string): string {
  const [before, rest] = text.split(UNRELEASED);
  if (before === undefined || rest === undefined) throw new Error('CHANGELOG.md has no section [Unreleased]');
  if (rest.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has a section [${version}] already`);
  const [changes = ''] = rest.split(/^## /m);
  if (changes.trim() === '')
    throw new Error('CHANGELOG.md says nothing under [Unreleased]: there is nothing to release');
  return `${before}${UNRELEASED}\n## [${version}] - ${date}\n${rest}`;
}
