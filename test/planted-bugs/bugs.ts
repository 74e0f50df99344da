import type { PlantedBug } from './bug.ts'
import { commandBugs } from './bugs/commands.ts'
import { httpBugs } from './bugs/http.ts'
import { logBugs } from './bugs/log.ts'
import { projectorBugs } from './bugs/projector.ts'
import { readModelBugs } from './bugs/read-models.ts'
import { storeBugs } from './bugs/stores.ts'

/** What a reader of the service would fear, where its promises hang. */
export const plantedBugs: readonly PlantedBug[] = [
  ...[...commandBugs, ...httpBugs],
  ...[...logBugs, ...projectorBugs],
  ...[...readModelBugs, ...storeBugs],
]

/** The text of a file with the bug in it. Throws unless the text to replace stands there once. */
export function plant({ name, file, text, becomes }: PlantedBug, source: string): string {
  const parts = source.split(text)
  if (parts.length !== 2) throw new Error(`${name}: its text stands ${parts.length - 1} times in ${file}`)
  return parts.join(becomes)
}
