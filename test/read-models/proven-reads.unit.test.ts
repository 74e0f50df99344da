import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import { ProvenReads } from '../../src/read-models/proven-reads.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { ScriptedStore } from './scripted-store.ts'

function open(ends: number[] = [0, 0]) {
  const store = new ScriptedStore()
  const log = { epoch: 'epoch', ends: async () => ends }
  return { store, ends, log, reads: new ProvenReads(store as unknown as ReadModels, log) }
}

async function status(reads: ProvenReads, expected: string) {
  await vi.waitFor(() => expect(reads.state.status).toBe(expected))
}

const all = { from: 1, limit: 10 }

describe('proven reads', () => {
  it('answer a full range without a proof, and a short one with it', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 1, next: 1 })
    expect(await reads.range({ from: 1, limit: 2 })).toEqual(['1', '2'])
    expect(store.reads.provenRange).toBe(0)
    expect(await reads.range(all)).toEqual(['1', '2'])
    expect(await reads.range({ from: 9, to: 9, limit: 1 })).toEqual([])
    expect(store.reads.provenRange).toBe(2)
    await reads.close()
  })

  it('nothing is served before the read model has reached what the log held', async () => {
    const { store, reads } = open([2, 1])
    await status(reads, 'rebuilding')
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(1, { partition: 0, next: 2 })
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 1, next: 1 })
    await status(reads, 'up')
    expect(await reads.range(all)).toEqual(['1', '2'])
    await reads.close()
  })

  it('nothing is served while the log cannot say what it held', async () => {
    const store = new ScriptedStore()
    const ends = vi.fn(async (): Promise<number[]> => {
      throw new ServiceError('event_log_unavailable', 'away')
    })
    const reads = new ProvenReads(store as unknown as ReadModels, { epoch: 'epoch', ends })
    await vi.waitFor(() => expect(ends).toHaveBeenCalled())
    expect(reads.state.status).toBe('rebuilding')
    ends.mockResolvedValue([0])
    reads.refresh()
    await status(reads, 'up')
    await reads.close()
  })

  it('an emptied store gives no absence and no short list until it is complete again', async () => {
    const { store, ends, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 1, next: 1 })
    ends.splice(0, 2, 1, 1)
    store.flush()
    await expect(reads.range({ from: 1, to: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.start('second')
    store.apply(1, { partition: 0, next: 1 })
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 1, next: 1 })
    await status(reads, 'up')
    expect(await reads.range(all)).toEqual(['1', '2'])
    await reads.close()
  })

  it('a store put back to an older state is noticed by its positions', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    store.next.set(0, 1)
    store.ids = [1]
    store.added = 1
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 0, next: 2 })
    await status(reads, 'up')
    expect(await reads.range(all)).toEqual(['1', '2'])
    await reads.close()
  })

  it('after a connection was lost even full answers wait for the positions', async () => {
    const { store, ends, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(3, { partition: 0, next: 2 })
    ends[0] = 2
    store.disconnect()
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_unavailable' })
    store.next.set(0, 1)
    store.connect()
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(3, { partition: 0, next: 2 })
    await status(reads, 'up')
    await reads.close()
  })

  it('a known generation is served after a lost connection although the log is away', async () => {
    const { store, log, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.disconnect()
    log.ends = () => Promise.reject(new ServiceError('event_log_unavailable', 'away'))
    store.connect()
    await status(reads, 'up')
    expect(await reads.range(all)).toEqual(['1'])
    await reads.close()
  })

  it('a set that lost a document is not called complete', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.ids = []
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a generation made from another log is never served', async () => {
    const { store, reads } = open()
    store.start('of another log', 'another epoch')
    reads.refresh()
    await status(reads, 'rebuilding')
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a store that does not answer ends the read in time', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    store.range = () => new Promise(() => {})
    const read = expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    vi.advanceTimersByTime(1500)
    await read
    vi.useRealTimers()
    await reads.close()
  })

  it('whatever happens to the store, an answer holds every document that was served before', async () => {
    type Step = 'apply' | 'apply unannounced' | 'flush' | 'replay one' | 'roll back' | 'blip' | 'lose one' | 'read'
    const steps: Step[] = ['apply', 'apply unannounced', 'flush', 'replay one', 'roll back', 'blip', 'lose one', 'read']
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...steps), { maxLength: 40 }), async (script) => {
        const { store, ends, reads } = open([0])
        while (reads.state.status !== 'up') await setImmediate()
        let known: string[] = []
        for (const step of script) {
          const next = store.next.get(0) ?? 0
          const applyNext = (announce: boolean) => store.apply(next + 1, { partition: 0, next: next + 1 }, announce)
          if (step === 'apply' || step === 'apply unannounced') {
            if (store.generation === undefined) continue
            applyNext(step === 'apply')
            ends[0] = Math.max(ends[0] ?? 0, next + 1)
          } else if (step === 'flush') store.flush()
          else if (step === 'replay one') {
            if (store.generation === undefined) store.start(`generation ${Math.random()}`)
            else if (next < (ends[0] ?? 0)) applyNext(true)
          } else if (step === 'roll back' && next > 0 && store.generation) {
            store.disconnect()
            store.next.set(0, next - 1)
            store.ids = store.ids.slice(0, -1)
            store.added--
            store.connect()
          } else if (step === 'blip') {
            store.disconnect()
            store.connect()
          } else if (step === 'lose one' && store.ids.length > 0) store.ids = store.ids.slice(1)
          const found = await reads.range({ from: 1, limit: 1000 }).catch((error: ServiceError) => {
            expect(error.code).toBe('read_model_rebuilding')
            return undefined
          })
          if (found === undefined) continue
          expect(found).toEqual(expect.arrayContaining(known))
          known = found
        }
        await reads.close()
      }),
      { numRuns: 200 },
    )
  })
})
