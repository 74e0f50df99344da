import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** What the files of a folder may import, type imports included: other folders, and packages. Their own folder always. */
export interface Allowed {
  readonly folders: readonly string[]
  readonly packages: readonly string[]
}

/** Path of a file, from the root of the repository, and its text. */
export type Sources = ReadonlyMap<string, string>

export function readSources(folders: readonly string[]): Sources {
  const files = folders.flatMap((folder) => {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    return names.map((name) => join(folder, name))
  })
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
}

/** Each import that the table does not allow, and each circle of files, in words. */
export function findForbidden(sources: Sources, table: Readonly<Record<string, Allowed>>): string[] {
  const forbidden = [...sources].flatMap(([file, text]) => {
    const folder = folderOf(file, table)
    if (folder === undefined) return [`${file}: its folder is not in the table`]
    return importsOf(text).flatMap((name) => problemOf(file, folder, name, table) ?? [])
  })
  return [...forbidden, ...findCircles(sources)]
}

function problemOf(
  file: string,
  folder: string,
  name: string,
  table: Readonly<Record<string, Allowed>>,
): string | undefined {
  const allowed = table[folder] ?? { folders: [], packages: [] }
  if (name.startsWith('node:')) return undefined
  if (!name.startsWith('.')) {
    return allowed.packages.includes(name) ? undefined : `${file}: ${folder} must not import the package ${name}`
  }
  const target = folderOf(resolveFrom(file, name), table)
  if (target !== undefined && (target === folder || allowed.folders.includes(target))) return undefined
  return `${file}: ${folder} must not import ${target ?? name}`
}

/** The longest folder of the table that the file is in. */
function folderOf(file: string, table: Readonly<Record<string, Allowed>>): string | undefined {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) if (folder in table) return folder
  return undefined
}

function findCircles(sources: Sources): string[] {
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  function visit(file: string, path: readonly string[]): void {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push(`circle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`)
      return
    }
    state.set(file, 'open')
    for (const name of importsOf(sources.get(file) ?? '')) {
      if (name.startsWith('.')) visit(resolveFrom(file, name), [...path, file])
    }
    state.set(file, 'done')
  }
  for (const file of sources.keys()) visit(file, [])
  return circles
}

function importsOf(text: string): string[] {
  return [
    ...text.matchAll(/^(?:import|export)\b[^'"`;]*?from '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm),
  ].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')
}

function resolveFrom(file: string, name: string): string {
  return normalize(join(dirname(file), name))
}
