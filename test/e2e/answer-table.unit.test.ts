import { describe, expect, it } from 'vitest'
import { AnswerTable, type Expected } from './answer-table.ts'

const [one, two] = ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}']

describe('the table of answers', () => {
  const cases: [title: string, status: number, text: string, expected: Expected, verdict: string][] = [
    ['the pet', 200, one, { text: one }, '0 0 0'],
    ['a pet where a page should be', 200, two, { text: `[${two}]` }, '1 0 0'],
    ['another name', 200, one.replace('a', 'c'), { text: one }, '1 0 0'],
    ['a pet too many', 200, `[${one},${two}]`, { text: `[${one}]` }, '1 0 0'],
    ['a short page', 200, `[${one}]`, { text: `[${one},${two}]` }, '0 1 0'],
    ['no pet', 404, '{"code":"pet_not_found"}', { text: one }, '0 1 0'],
    ['no pet yet', 404, '{"code":"pet_not_found"}', { text: one, since: 'token' }, '0 0 1'],
    ['a page that is older', 200, '[]', { text: `[${one}]`, since: 'token' }, '0 0 1'],
    ['no pet where there is none', 404, '{"code":"pet_not_found"}', 'nothing', '0 0 0'],
    ['a pet where there is none', 200, one, 'nothing', '1 0 0'],
    ['a failure', 500, '{"code":"internal_error"}', { text: one }, '1 0 0'],
    ['not now', 503, '{"code":"read_model_rebuilding"}', { text: one }, '0 0 0'],
  ]

  it.each(cases)('judges %s', (_title, status, text, expected, verdict) => {
    const table = new AnswerTable()
    table.add('by id', { status, text, ms: 1 }, expected)
    const [, row = ''] = String(table).split('\n')
    expect(
      row
        .split(/\s{2,}/)
        .slice(2, 5)
        .join(' '),
    ).toBe(verdict)
    expect(table.untrue.length).toBe(verdict === '0 0 0' ? 0 : 1)
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
