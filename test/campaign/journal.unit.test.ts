import { expect, it } from 'vitest'
import type { Exchange } from '../judge/history.ts'
import { added, Journal } from './journal.ts'
import { faultTable } from './report.ts'

const answer = (answeredMs: number, status?: number) => ({ answeredMs, status }) as Exchange

function journalOf(answers: readonly Exchange[]): Journal {
  const journal = new Journal()
  for (const each of answers) journal.answered(each)
  return journal
}

it('tells what clients saw while a kind of fault happened alone, and how long they got nothing', () => {
  const journal = journalOf([
    answer(5, 201),
    answer(12, 503),
    answer(15, 404),
    answer(18),
    answer(40, 200),
    answer(90, 504),
  ])
  journal.inflicted({ kind: 'kill', isAlone: true, startMs: 10, endMs: 20 })
  journal.inflicted({ kind: 'kill', isAlone: true, startMs: 80, endMs: 110 })
  journal.inflicted({ kind: 'kill', isAlone: false, startMs: 0, endMs: 1000 })
  journal.inflicted({ kind: 'flush', isAlone: true, startMs: 0, endMs: 6 })
  const [kill, flush] = journal.summary()
  const none = { '2xx': 0, '4xx': 0, '503': 0, '504': 0, '500': 0, lost: 0 }
  expect(kill).toEqual({
    kind: 'kill',
    times: 3,
    timesAlone: 2,
    longestMs: 30,
    longestSilenceMs: 30,
    seen: { ...none, '503': 1, '4xx': 1, '504': 1, lost: 1 },
  })
  expect(flush).toMatchObject({ times: 1, longestSilenceMs: 35, seen: { ...none, '2xx': 1 } })
})

it('leaves out what could not be inflicted', async () => {
  const journal = new Journal()
  await journal.during({ kind: 'kill' }, true, async () => false)
  await journal.during({ kind: 'flush' }, true, async () => true)
  expect(journal.summary()).toMatchObject([{ kind: 'flush', times: 1 }])
  expect(journal.faults).toBe(1)
})

it('adds up runs, and shows them as a table', () => {
  const journal = journalOf([answer(15, 201)])
  journal.inflicted({ kind: 'kill', isAlone: true, startMs: 10, endMs: 1510 })
  const both = added([...journal.summary(), ...journal.summary()])
  expect(both).toMatchObject([{ kind: 'kill', times: 2, timesAlone: 2, longestMs: 1500, seen: { '2xx': 2 } }])
  expect(faultTable(both)).toMatch(/\| kill +\| +2 \| +2 \| +2 \|/)
})
