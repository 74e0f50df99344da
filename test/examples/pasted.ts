import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Topic } from '../e2e/topic.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { inProject, readProject } from './stored-example.ts'

/** The program under a heading of README.md, in a file, with what the test adds to it. It has as many lines as is said of it. */
export function pasted(heading: string, lines: number, { KAFKA_BROKERS, KAFKA_TOPIC }: Topic, more = ''): string {
  const [, section = ''] = readProject('README.md').split(`## ${heading}\n`)
  const [, program = ''] = /^```ts\n(.*?)^```/ms.exec(section) ?? []
  expect(program.trimEnd().split('\n')).toHaveLength(lines)
  const folder = temporaryFolder()
  symlinkSync(inProject('node_modules'), join(folder, 'node_modules'))
  const here = program
    .replace('127.0.0.1:9092', KAFKA_BROKERS)
    .replace('petstore.pets', KAFKA_TOPIC)
    .replace(', sasl }', ' }')
    .replace("'mailer'", `'${KAFKA_TOPIC} react'`)
  writeFileSync(join(folder, 'program.ts'), `${here}${more}`)
  return join(folder, 'program.ts')
}
