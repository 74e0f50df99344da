/** `MAJOR.MINOR.PATCH`: a release has no other form. */
export const versionForm = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/

export function isLarger(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) > 0
}

/** The headings of the entries of a changelog, newest first: a version, or `Unreleased`, each up to its colon. */
export function entriesOf(changelog: string): string[] {
  return [...changelog.matchAll(/^## ([^\s:]+)/gm)].map(([, name = '']) => name)
}
