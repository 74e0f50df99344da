import { describe, expect, it } from 'vitest'
import { AnswerTable, type Expected } from './answer-table.ts'

const [one, two] = ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}']

describe('the table of answers', () => {
  const cases: [title: string, status: number, text: string, expected: Expected, verdict: string | undefined][] = [
    ['the pet', 200, one, { text: one }, undefined],
    ['a pet where a page should be', 200, two, { text: `[${two}]` }, 'wrong'],
    ['another name', 200, one.replace('a', 'c'), { text: one }, 'wrong'],
    ['a pet too many', 200, `[${one},${two}]`, { text: `[${one}]` }, 'wrong'],
    ['a short page', 200, `[${one}]`, { text: `[${one},${two}]` }, 'missing'],
    ['no pet', 404, '{"code":"pet_not_found"}', { text: one }, 'missing'],
    ['no pet yet', 404, '{"code":"pet_not_found"}', { text: one, since: 'token' }, 'older'],
    ['a page that is older', 200, '[]', { text: `[${one}]`, since: 'token' }, 'older'],
    ['no pet where there is none', 404, '{"code":"pet_not_found"}', 'nothing', undefined],
    ['a pet where there is none', 200, one, 'nothing', 'wrong'],
    ['a failure', 500, '{"code":"internal_error"}', { text: one }, 'wrong'],
    ['not now', 503, '{"code":"read_model_rebuilding"}', { text: one }, undefined],
  ]

  it.each(cases)('judges %s', (_title, status, text, expected, verdict) => {
    const table = new AnswerTable()
    table.add('by id', { status, text, ms: 1 }, expected)
    expect(table.untrue.map((note) => /^by id is (\w+): /.exec(note)?.[1])).toEqual(verdict ? [verdict] : [])
  })

  it('counts answers by status and code', () => {
    const table = new AnswerTable()
    table.add('by id', { status: 200, text: one, ms: 1 }, { text: one })
    for (const ms of [1, 2])
      table.add('by id', { status: 503, text: '{"code":"read_model_rebuilding"}', ms }, { text: one })
    expect(table.counts()).toEqual([['by id', 3]])
    expect(table.count(/read_model_rebuilding/)).toBe(2)
  })
})
