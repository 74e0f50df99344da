import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { retry } from '../../../src/engine/lib/retry.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { adjustableClock } from '../rebuilding/rebuilding.ts'

const logger = pino({ level: 'silent' })
const away = () => new ServiceError('read_model_unavailable', 'away')

describe('retry', () => {
  it('asks until there is an answer', async () => {
    const ask = vi.fn(async () => 'answer')
    ask.mockRejectedValueOnce(away()).mockRejectedValueOnce(away())
    expect(await retry(ask, { logger })).toBe('answer')
    expect(ask).toHaveBeenCalledTimes(3)
  })

  it('tells once that there is no answer, and that there is one again', async () => {
    const { logger, lines } = captureLog()
    const ask = vi.fn(async () => 'answer')
    for (let times = 0; times < 5; times++) ask.mockRejectedValueOnce(away())
    await retry(ask, { logger })
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'log or read models do not answer, trying again'],
      [30, 'log and read models answer again'],
    ])
  })

  it('asks again after one long wait, as of a process that was suspended', async () => {
    const skipTime = adjustableClock()
    const ask = vi.fn(async () => 'answer')
    ask.mockImplementationOnce(async () => {
      skipTime(600_000)
      throw away()
    })
    expect(await retry(ask, { logger })).toBe('answer')
  })

  it('ends with the failure once half a minute has passed', async () => {
    const skipTime = adjustableClock()
    const ask = vi.fn(async () => {
      skipTime(16_000)
      throw away()
    })
    await expect(retry(ask, { logger })).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(ask).toHaveBeenCalledTimes(3)
  })

  it('ends with any other error at once', async () => {
    const ask = vi.fn(() => Promise.reject(new TypeError('a bug')))
    await expect(retry(ask, { logger })).rejects.toThrow('a bug')
    expect(ask).toHaveBeenCalledTimes(1)
  })

  it('asks no more once told to stop', async () => {
    const stop = new AbortController()
    const ask = vi.fn(async () => {
      stop.abort()
      throw away()
    })
    await expect(retry(ask, { logger, signal: stop.signal })).rejects.toMatchObject({ name: 'ServiceError' })
    expect(ask).toHaveBeenCalledTimes(1)
  })
})
