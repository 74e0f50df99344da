import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runbookHeadings, runbookOf, sectionOf } from '../../../src/engine/operations/runbook.ts'
import { metricsOf } from '../app/metrics-of.ts'
import { runHere } from '../cli/run-here.ts'
import { theatre } from '../theatre/theatre.ts'

const page = runbookOf(theatre)

it('is in the words of the service, and leaves no gap', () => {
  expect(page).toMatch(/^# Runbook of Theatre\n/)
  expect(page).not.toMatch(/\{\{[a-z ]*\}\}(?!:)/)
  for (const text of [
    'adding a seat without',
    '`--seat ID` one seat',
    'theatre.EventDiscarded.v1',
    'theatre.seats.id-blocks',
  ])
    expect(page).toContain(text)
})

it('has each heading that a problem or a message of the engine names', () => {
  const files = globSync('src/engine/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const named = files.flatMap((text) =>
    [...text.matchAll(/runbook says under '([^']+)'/g)].map(([, name = '']) => name),
  )
  expect(named.length).toBeGreaterThan(3)
  for (const heading of [...runbookHeadings, ...named]) expect(sectionOf(page, heading), heading).toMatch(/\w/)
  expect(sectionOf(page, 'Parked')).toBeUndefined()
})

it('names metrics that there are', async () => {
  const served = await metricsOf({}, 'theatre').text()
  const named = [...page.matchAll(/\btheatre_(?!key)[a-z_]+/g)].map(([name]) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !served.includes(`# TYPE ${name} `))).toEqual([])
})

it('is printed by a command, all of it or one part', async () => {
  expect(await runHere({}, 'runbook')).toEqual({ code: 0, output: `${page.trim()}\n`, errors: '' })
  expect((await runHere({}, 'runbook Scaling')).output.trim()).toBe(sectionOf(page, 'Scaling'))
  const { code, errors } = await runHere({}, 'runbook Nothing')
  expect([code, errors]).toEqual([2, expect.stringMatching(/no heading Nothing\. It has:\n(?:.+\n)*Parked events\n/)])
})
