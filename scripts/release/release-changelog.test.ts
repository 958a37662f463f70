import { releaseChangelog } from './release-changelog.ts';

const BEFORE = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- More.\n\n## [0.1.0] - 2030-01-01\n\n- First.\n';

test('what is unreleased becomes the release, and an empty section stays above it', () => {
  expect(releaseChangelog(BEFORE, '0.2.0', '2030-01-31')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2030-01-31\n\n### Added\n\n- More.\n\n## [0.1.0] - 2030-01-01\n\n- First.\n',
  );
});

test.each([
  ['nothing to release', releaseChangelog(BEFORE, '0.2.0', '2030-01-31'), '0.3.0', /nothing to release/],
  ['a version that is there', BEFORE, '0.1.0', /\[0\.1\.0\] already/],
  ['no section for it', '# Changelog\n', '0.2.0', /no section \[Unreleased\]/],
])('%s is refused', (_what, text, version, sentence) => {
  expect(() => releaseChangelog(text, version, '2030-01-31')).toThrow(sentence);
});
