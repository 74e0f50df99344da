import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Definition } from '../../../../src/engine/definition/definition.ts'
import type { Contents, RecordedAdapter, Use } from './contents.ts'
import { historiesOf, type Sequences } from './histories.ts'
import { usesOf } from './uses.ts'

export interface Recorded {
  readonly definition: Definition
  readonly adapter: RecordedAdapter
  /** Has a file for each adapter, and nothing of another service. */
  readonly folder: string
  readonly more?: Sequences
}

const isRecording = process.env.RECORD_STATE !== undefined

/**
 * Another release with the same version of the read models fills and reads the same ones, so what is stored under a
 * version never changes. Each version has a file. What is in it is never written again, only added to.
 */
export function storesWhatWasRecorded({ definition, adapter, folder, more }: Recorded): void {
  const under = `${definition.version}.${adapter.name}`
  const file = join(folder, `${under}.json`)
  const uses = usesOf(definition, historiesOf(definition, more))
  const contentsAfter = async (use: Use): Promise<Contents> =>
    JSON.parse(JSON.stringify(await adapter.contentsAfter(definition, use)))
  const read = (): Readonly<Record<string, Contents>> =>
    existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}

  describe(`what is stored under ${under}`, () => {
    beforeAll(async () => {
      if (!isRecording) return
      const found = read()
      const all: Record<string, Contents> = {}
      for (const [name, use] of uses) all[name] = found[name] ?? (await contentsAfter(use))
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, textOf({ ...all, ...found }))
    }, 120_000)

    it.each([...uses])('is as recorded: %s', async (name, use) => {
      const recorded = read()[name]
      if (recorded === undefined)
        throw new Error(`${file} has nothing of this: \`npm run record\` adds what is missing.`)
      expect(await contentsAfter(use), changed).toEqual(recorded)
    })

    it('is all that is recorded: what is gone, and the file of another version, are to be removed', () => {
      expect(Object.keys(read())).toEqual([...uses.keys()])
      const ofAdapter = new RegExp(`\\.${adapter.name.replace(/-\d+$/, '')}(?:-\\d+)?\\.json$`)
      expect(readdirSync(folder).filter((name) => ofAdapter.test(name))).toEqual([`${under}.json`])
    })
  })
}

const changed = `What is stored changed, and another release of the same version would misread it. Undo that, or raise
\`version\` of the projection that shows it, \`storedLayout\` where the engine itself stores it, or \`layoutVersion\` where it
is the tables of SQLite. Then \`npm run record\`, and remove the file of the version before.`

/** JSON with a line for each entry of a place. */
function textOf(recorded: Readonly<Record<string, Contents>>): string {
  return `${inLines(recorded, 3, '')}\n`
}

function inLines(value: unknown, depth: number, indent: string): string {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const items = Object.entries(value).map(([name, each]) => {
    return `${inner}${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}${inLines(each, depth - 1, inner)}`
  })
  return `${open}\n${items.join(',\n')}\n${indent}${close}`
}
