import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { Result } from '../../../src/engine/console/answers.ts'
import { Jobs } from '../../../src/engine/console/jobs.ts'
import { eventually } from '../../lib/eventually.ts'

const silent = pino({ level: 'silent' })
const good: Result = { isGood: true, outcome: 'Done.' }

describe('work that operators start', () => {
  it('is watched, and stays to be looked at', async () => {
    const jobs = new Jobs(() => 7, silent)
    const { promise, resolve } = Promise.withResolvers<Result>()
    jobs.start('verify', 'key a', async (update) => {
      update('compare', 3, 10)
      return await promise
    })
    expect(jobs.last).toMatchObject({
      kind: 'verify',
      actor: 'key a',
      startedAt: 7,
      step: 'compare',
      done: 3,
      total: 10,
    })
    expect(jobs.last).not.toHaveProperty('endedAt')
    resolve(good)
    await eventually(() => expect(jobs.last).toMatchObject({ endedAt: 7, result: good }))
  })

  it('is one at a time', async () => {
    const jobs = new Jobs(() => 0, silent)
    const { promise, resolve } = Promise.withResolvers<Result>()
    jobs.start('rebuild', 'key a', () => promise)
    expect(() => jobs.start('verify', 'key b', async () => good)).toThrow('busy with rebuild, begun by key a')
    resolve(good)
    await eventually(() => expect(jobs.last?.endedAt).toBe(0))
    expect(jobs.start('verify', 'key b', async () => good)).toMatchObject({ kind: 'verify' })
  })

  it('says why it failed', async () => {
    const jobs = new Jobs(() => 0, silent)
    jobs.start('rebuild', 'key a', async () => {
      throw new Error('The log is away.')
    })
    await eventually(() => expect(jobs.last?.result).toEqual({ isGood: false, outcome: 'The log is away.' }))
  })

  it('ends with the process, at its next step', async () => {
    const jobs = new Jobs(() => 0, silent)
    let isAborted = false
    jobs.start('verify', 'key a', async (update, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isAborted = signal.aborted
      update('compare', 1, 2)
      return good
    })
    await jobs.close()
    expect(isAborted).toBe(true)
    expect(jobs.last?.result?.isGood).toBe(false)
  })
})
