/** What is built between releases: the minor version that comes next, if nothing else is decided. */
export function nextVersion(released: string): string {
  const [major = '', minor = ''] = released.split('.');
  return `${major}.${Number(minor) + 1}.0-dev`;
}
