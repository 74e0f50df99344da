import { globSync } from 'node:fs'

/** What the built service reads at run time: Redis scripts, pages, the runbook, and what Node loads before anything else. */
const read = [
  'src/**/*.cjs',
  'src/engine/read-models/redis/*.lua',
  'src/engine/console/page/*.{css,html,js}',
  'src/engine/http/documents/docs-page/*.{css,html,js}',
  'src/engine/operations/runbook.md',
]

/** Files that the build copies, by their paths in the repository. */
export function asTheyAre(root: string): string[] {
  return globSync(read, { cwd: root }).sort()
}

/** Files that the build makes of sources, by their paths in `dist`. */
export function compiled(root: string): string[] {
  const typesAlone = ['src/**/*.d.ts', 'src/engine/console/page/*']
  const sources = globSync(['src/**/*.ts', 'projections/**/*.ts'], { cwd: root, exclude: typesAlone })
  return sources.flatMap((source) => ['.js', '.js.map', '.d.ts'].map((end) => source.replace(/\.ts$/, end))).sort()
}
