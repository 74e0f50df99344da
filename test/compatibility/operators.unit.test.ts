import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Client } from '../e2e/client.ts'
import { startHere } from '../lib/start-here.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { petstore } from '../store/petstore.ts'
import { runHere } from '../store/run-here.ts'

/*
 * What operators rely on: dashboards on the names and labels of metrics, scripts on commands. What is published here may
 * grow; what is gone or renamed is a change that the CHANGELOG has to tell.
 */
const published = (name: string) => readFileSync(new URL(`./published/${name}`, import.meta.url), 'utf8')

/** Samples without values, and labels without theirs. */
function namesIn(metrics: string): string[] {
  const lines = metrics.split('\n').filter((line) => /^(# TYPE|petstore)/.test(line))
  return lines.map((line) => line.replace(/ [\d.e+-]+$/, '').replaceAll(/="[^"]*"/g, '='))
}

it('every metric that was published is there, with its labels', async () => {
  const client = new Client(await startHere(petstore))
  const { headers } = await client.post({ name: 'Rex', categoryId: 7 })
  expect(headers.get('location')).toMatch('/v1/pets/')
  await client.request('/v1/pets/0')
  const served = namesIn((await client.request('/metrics')).text)
  expect(served).toEqual(expect.arrayContaining(published('metrics.txt').trim().split('\n')))
})

it('every command that was published has the same help', async () => {
  const [, ...parts] = published('help.txt').split(/^== ?/m)
  for (const part of parts) {
    const [command = '', ...lines] = part.split('\n')
    const { code, output } = await runHere({ DATA_DIR: temporaryFolder() }, `${command} --help`)
    expect([code, output.trimEnd()], command).toEqual([0, lines.join('\n').trimEnd()])
  }
  expect(parts.length).toBeGreaterThan(15)
})
