import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlantedBug } from './bug.ts'

const folder = join(import.meta.dirname, 'bugs')

/** What a reader of the service would fear, where its promises hang. */
export const plantedBugs: readonly PlantedBug[] = readdirSync(folder).flatMap((name) =>
  bugsIn(readFileSync(join(folder, name), 'utf8')),
)

/**
 * A line with a file of the service stands before its bugs. A bug is its name, the lines of its text (-), those that it
 * becomes (+), and the test that is to catch it (>). Throws on anything else.
 */
export function bugsIn(text: string): PlantedBug[] {
  let file = ''
  return text.split(/\n\n+/).flatMap((block) => {
    const [, heading] = /^# (\S+)\s*$/.exec(block) ?? []
    file = heading ?? file
    return heading === undefined ? [bugOf(file, block)] : []
  })
}

function bugOf(file: string, block: string): PlantedBug {
  const found = /^(?<name>[^#+>-].*)\n(?<text>(?:-.*\n)+)(?<becomes>(?:\+.*\n)*)> (?<test>\S+): (?<title>.+)\s*$/.exec(
    block,
  )
  if (file === '' || !found?.groups) throw new Error(`no planted bug: ${block}`)
  const { name = '', text = '', becomes = '', test = '', title = '' } = found.groups
  const unmarked = (lines: string) => lines.replaceAll(/^[-+] ?/gm, '').slice(0, -1)
  return { name, file, text: unmarked(text), becomes: unmarked(becomes), caughtBy: { file: test, title } }
}

/** The text of a file with the bug in it. Throws unless the text to replace stands there once. */
export function plant({ name, file, text, becomes }: PlantedBug, source: string): string {
  const parts = source.split(text)
  if (parts.length !== 2) throw new Error(`${name}: its text stands ${parts.length - 1} times in ${file}`)
  return parts.join(becomes)
}
