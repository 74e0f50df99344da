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
/** Of the documents that `ScriptedStore` makes, which are ids. */
function ids({ documents }: { documents: string }): number[] {
  return JSON.parse(`[${documents}]`)
}

async function idsOf(reads: ProvenReads): Promise<number[]> {
  return ids(await reads.range(all))
}

/** Whatever is waiting to be looked at has been. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate()
}

/** To before the last document, without a sign of it. */
function rollBack(store: ScriptedStore): void {
  store.next.set(0, (store.next.get(0) ?? 0) - 1)
  store.ids = store.ids.slice(0, -1)
  store.added--
}

describe('proven reads', () => {
  it('give on what the store answers', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 1, next: 1 })
    for (const query of [{ from: 1, limit: 1 }, { from: 1, limit: 2 }, all, { from: 9, to: 9, limit: 1 }]) {
      expect(await reads.range(query)).toEqual(await store.range('first', query))
    }
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
    expect(await idsOf(reads)).toEqual([1, 2])
    await reads.close()
  })

  it('tell what is decided under a key, from a generation that is proved only', async () => {
    const { store, reads } = open([1, 0])
    const decision = { key: 'k', offset: 0, fingerprint: 'f', subject: '1' }
    store.decisions.set('k', decision)
    await status(reads, 'rebuilding')
    await expect(reads.decision('k')).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(1, { partition: 0, next: 1 })
    await status(reads, 'up')
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
    expect(await idsOf(reads)).toEqual([1, 2])
    await reads.close()
  })

  it.each([
    ['a full answer', { from: 1, limit: 1 }],
    ['a full answer that is all there is', { from: 1, to: 1, limit: 1 }],
    ['a short answer', all],
    ['an empty answer', { from: 5, limit: 10 }],
  ])('a store put back to an older state over the same connection is noticed by %s', async (_answer, query) => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    rollBack(store)
    await expect(reads.range(query)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    expect(reads.state.status).toBe('rebuilding')
    store.apply(2, { partition: 0, next: 2 })
    await status(reads, 'up')
    expect(await idsOf(reads)).toEqual([1, 2])
    await reads.close()
  })

  it('what an answer shows was never announced, and is not taken back either', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 }, false)
    store.apply(2, { partition: 0, next: 2 }, false)
    expect(await idsOf(reads)).toEqual([1, 2])
    rollBack(store)
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('news that overtakes an answer does not put it in doubt', async () => {
    const { store, log, reads } = open()
    await status(reads, 'up')
    const ends = vi.spyOn(log, 'ends')
    store.apply(1, { partition: 0, next: 1 })
    const release = store.hold()
    const asked = [all, { from: 1, limit: 1 }, { from: 7, limit: 1 }].map((query) => reads.range(query))
    store.apply(2, { partition: 0, next: 2 })
    store.apply(3, { partition: 1, next: 1 })
    release()
    expect((await Promise.all(asked)).map(ids)).toEqual([[1], [1], []])
    expect(reads.state.status).toBe('up')
    expect(await idsOf(reads)).toEqual([1, 2, 3])
    await someTurns()
    expect(reads.state.status).toBe('up')
    expect(ends).not.toHaveBeenCalled()
    await reads.close()
  })

  it('news that overtakes a look at the positions does not put them in doubt', async () => {
    const { store, log, reads } = open()
    await status(reads, 'up')
    const ends = vi.spyOn(log, 'ends')
    store.apply(1, { partition: 0, next: 1 })
    const release = store.hold()
    const before = store.reads.checkpoints
    reads.refresh()
    await vi.waitFor(() => expect(store.reads.checkpoints).toBe(before + 1))
    store.apply(2, { partition: 0, next: 2 })
    store.apply(3, { partition: 1, next: 1 })
    release()
    await someTurns()
    expect(reads.state.status).toBe('up')
    expect(await idsOf(reads)).toEqual([1, 2, 3])
    expect(ends).not.toHaveBeenCalled()
    await reads.close()
  })

  it('news that overtook an answer is held to by those asked for after it', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const release = store.hold()
    const overtaken = reads.range(all)
    store.apply(2, { partition: 0, next: 2 })
    release()
    expect(ids(await overtaken)).toEqual([1])
    rollBack(store)
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a look at the positions notices what was put back before anyone reads', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    rollBack(store)
    reads.refresh()
    await status(reads, 'rebuilding')
    await reads.close()
  })

  it('a connection lost while positions are on their way leaves them in doubt', async () => {
    const { store, ends, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const release = store.hold()
    const before = store.reads.checkpoints
    reads.refresh()
    await vi.waitFor(() => expect(store.reads.checkpoints).toBe(before + 1))
    ends[0] = 2
    store.disconnect()
    store.connect()
    release()
    await someTurns()
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 0, next: 2 })
    await status(reads, 'up')
    await reads.close()
  })

  it('a full answer of a generation that was replaced meanwhile is not served', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const { range } = store
    store.range = async (generation, query) => {
      const answer = await range.call(store, generation, query)
      return { ...answer, moment: { ...answer.moment, active: 'another' } }
    }
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a store that does not answer is told as it is, and puts nothing in doubt', async () => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const range = vi.spyOn(store, 'range').mockRejectedValueOnce(new ServiceError('read_model_unavailable', 'late'))
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(range).toHaveBeenCalledOnce()
    expect(reads.state.status).toBe('up')
    expect(await idsOf(reads)).toEqual([1])
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
    expect(await idsOf(reads)).toEqual([1])
    await reads.close()
  })

  it.each([all, { from: 1, limit: 1 }])('a set that lost a document is not called complete: %o', async (query) => {
    const { store, reads } = open()
    await status(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    store.ids = [1]
    await expect(reads.range(query)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
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

  it('whatever happens to the store, an answer holds every document that was served before', async () => {
    const kind = fc.constantFrom(
      ...(['apply', 'apply unannounced', 'flush', 'replay one', 'roll back', 'roll back quietly'] as const),
      ...(['blip', 'lose one', 'news overtakes', 'read'] as const),
    )
    const limit = fc.constantFrom(1, 2, 1000)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ step: kind, limit }), { maxLength: 40 }), async (script) => {
        const { store, ends, reads } = open([0])
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
