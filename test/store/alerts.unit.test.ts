import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { metricsOf } from '../engine/app/metrics-of.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const rules = read('ops/alerts.yml')
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

/** The names of the samples of each metric, and those of a histogram. */
async function servedNames(): Promise<ReadonlySet<string>> {
  const text = await metricsOf({}, 'petstore').text()
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)]
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
    ),
  )
}

describe('the alerts', () => {
  it('are there, each once', () => {
    expect(alerts).toHaveLength(new Set(alerts).size)
    expect(alerts.length).toBeGreaterThanOrEqual(11)
  })

  it.each(alerts)('%s has its section in the runbook, and a test that it fires and one that it does not', (name) => {
    expect(rules).toContain(`runbook: docs/alerts.md#${name.toLowerCase()}\n`)
    expect(read('docs/alerts.md')).toContain(`\n## ${name}\n`)
    const tests = read('ops/alerts.test.yml')
    for (const outcome of ['fires', 'is silent']) expect(tests).toContain(`- name: ${name} ${outcome}\n`)
  })

  it('have no section in the runbook beside them', () => {
    const sections = [...read('docs/alerts.md').matchAll(/^## (.+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(alerts)
  })
})

const operated = readdirSync(new URL('../../ops', import.meta.url), { recursive: true, withFileTypes: true })
const files = operated.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))

it.each(files)('%s names only metrics that exist', async (file) => {
  const served = await servedNames()
  const named = readFileSync(file, 'utf8').match(/\b(petstore|nodejs|process)_\w+/g) ?? []
  expect([...new Set(named)].filter((name) => !served.has(name))).toEqual([])
})

it('the dashboard shows metrics, and every expression of it names one', () => {
  const { panels } = JSON.parse(read('ops/dashboard.json')) as { panels: { targets: { expr: string }[] }[] }
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  expect(expressions.length).toBeGreaterThan(15)
  for (const expr of expressions) expect(expr).toMatch(/\b(petstore|nodejs|process)_\w+|\bup\{/)
})

it('the operations manual describes each metric, and no other', async () => {
  const described = [...read('docs/operations.md').matchAll(/^\| `(petstore_[a-z_]+)/gm)].map(([, name]) => name)
  const text = await metricsOf({}, 'petstore').text()
  const existing = [...text.matchAll(/^# TYPE (petstore_\S+)/gm)].map(([, name]) => name)
  expect(new Set(described)).toEqual(new Set(existing))
})
