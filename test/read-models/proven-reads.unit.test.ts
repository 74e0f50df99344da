import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/lib/errors.ts'
import { ProvenReads } from '../../src/read-models/proven-reads.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { all, ids, idsOf, openProvenReads, rollBack, someTurns, untilStatus } from './proving.ts'
import { ScriptedStore } from './scripted-store.ts'

describe('proven reads', () => {
  it('give on what the store answers', async () => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 1, next: 1 })
    for (const query of [{ from: 1, limit: 1 }, { from: 1, limit: 2 }, all, { from: 9, to: 9, limit: 1 }]) {
      expect(await reads.range(query)).toEqual(await store.range('first', query))
    }
    await reads.close()
  })

  it('nothing is served before the read model has reached what the log held', async () => {
    const { store, reads } = openProvenReads([2, 1])
    await untilStatus(reads, 'rebuilding')
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(1, { partition: 0, next: 2 })
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 1, next: 1 })
    await untilStatus(reads, 'up')
    expect(await idsOf(reads)).toEqual([1, 2])
    await reads.close()
  })

  it('tell what is decided under a key, from a generation that is proved only', async () => {
    const { store, reads } = openProvenReads([1, 0])
    const decision = { key: 'k', offset: 0, fingerprint: 'f', subject: '1' }
    store.decisions.set('k', decision)
    await untilStatus(reads, 'rebuilding')
    await expect(reads.decision('k')).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(1, { partition: 0, next: 1 })
    await untilStatus(reads, 'up')
    expect([await reads.decision('k'), await reads.decision('l')]).toEqual([decision, undefined])
    store.disconnect()
    await expect(reads.decision('k')).rejects.toMatchObject({ code: 'read_model_unavailable' })
    await reads.close()
  })

  it('nothing is served while the log cannot say what it held', async () => {
    const store = new ScriptedStore()
    const ends = vi.fn(async (): Promise<number[]> => {
      throw new ServiceError('event_log_unavailable', 'away')
    })
    const reads = new ProvenReads(store as unknown as ReadModels, { epoch: 'epoch', ends })
    await vi.waitFor(() => expect(ends).toHaveBeenCalled())
    for (let look = 0; look < 3; look++) {
      reads.refresh()
      await someTurns()
      expect(reads.state.status).toBe('rebuilding')
    }
    ends.mockResolvedValue([0])
    reads.refresh()
    await untilStatus(reads, 'up')
    await reads.close()
  })

  it('a store that does not answer is told as it is, and puts nothing in doubt', async () => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const range = vi.spyOn(store, 'range').mockRejectedValueOnce(new ServiceError('read_model_unavailable', 'late'))
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(range).toHaveBeenCalledOnce()
    expect(reads.state.status).toBe('up')
    expect(await idsOf(reads)).toEqual([1])
    await reads.close()
  })

  it('a full answer of a generation that was replaced meanwhile is not served', async () => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const { range } = store
    store.range = async (generation, query) => {
      const answer = await range.call(store, generation, query)
      return { ...answer, moment: { ...answer.moment, active: 'another' } }
    }
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a generation made from another log is never served', async () => {
    const { store, reads } = openProvenReads()
    store.start('of another log', 'another epoch')
    reads.refresh()
    await untilStatus(reads, 'rebuilding')
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('whatever happens to the store, an answer holds every document that was served before', async () => {
    const kind = fc.constantFrom(
      ...(['apply', 'apply unannounced', 'flush', 'replay one', 'roll back', 'roll back quietly'] as const),
      ...(['blip', 'lose one', 'news overtakes', 'read'] as const),
    )
    const limit = fc.constantFrom(1, 2, 1000)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ step: kind, limit }), { maxLength: 40 }), async (script) => {
        const { store, ends, reads } = openProvenReads([0])
        while (reads.state.status !== 'up') await setImmediate()
        let known: number[] = []
        for (const { step, limit } of script) {
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
            rollBack(store)
            store.connect()
          } else if (step === 'roll back quietly' && next > 0 && store.generation) rollBack(store)
          else if (step === 'news overtakes' && store.generation) {
            const release = store.hold()
            const overtaken = reads.range({ from: 1, limit }).catch(() => undefined)
            applyNext(true)
            ends[0] = Math.max(ends[0] ?? 0, next + 1)
            release()
            const answer = await overtaken
            if (answer !== undefined) expect(ids(answer)).toEqual(expect.arrayContaining(known.slice(0, limit)))
          } else if (step === 'blip') {
            store.disconnect()
            store.connect()
          } else if (step === 'lose one' && store.ids.length > 0) store.ids = store.ids.slice(1)
          const found = await reads.range({ from: 1, limit }).catch((error: ServiceError) => {
            expect(error.code).toBe('read_model_rebuilding')
            return undefined
          })
          if (found === undefined) continue
          const seen = ids(found)
          expect(seen).toEqual(expect.arrayContaining(known.slice(0, limit)))
          if (seen.length > known.length) known = seen
        }
        await reads.close()
      }),
      { numRuns: 200 },
    )
  })
})
