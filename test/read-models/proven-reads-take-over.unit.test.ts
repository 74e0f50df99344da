import { describe, expect, it, vi } from 'vitest'
import { ProvenReads } from '../../src/read-models/proven-reads.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { all, someTurns } from './proving.ts'
import { ScriptedStore } from './scripted-store.ts'

const rebuilding = { code: 'read_model_rebuilding' }

/** Proved, with one document. Whatever is asked of the log from then on says that there is more to come. */
async function proved() {
  const store = new ScriptedStore()
  store.apply(1, { partition: 0, next: 1 })
  const log = { epoch: 'epoch', ends: vi.fn(async () => [1]) }
  const reads = new ProvenReads(store as unknown as ReadModels, log)
  await vi.waitFor(() => expect(reads.state.status).toBe('up'))
  log.ends.mockReset().mockResolvedValue([2])
  return { store, log, reads }
}

describe('a generation that takes over', () => {
  it.each([true, false])('from the one proved before is proved at once (announced: %s)', async (announced) => {
    const { store, log, reads } = await proved()
    store.takeOver('second', announced)
    expect((await reads.range(all)).documents).toBe('1')
    expect(reads.state).toEqual({ status: 'up', generation: 'second' })
    expect(log.ends).not.toHaveBeenCalled()
    await reads.close()
  })

  it('makes no read fail, not even while its positions are on their way', async () => {
    const { store, reads } = await proved()
    const release = store.hold()
    store.takeOver('second')
    await someTurns()
    const reading = reads.range(all)
    release()
    expect((await reading).documents).toBe('1')
    expect(reads.state).toEqual({ status: 'up', generation: 'second' })
    await reads.close()
  })

  it('is never served as long as it has less than was read of the one before', async () => {
    const { store, reads } = await proved()
    store.apply(2, { partition: 0, next: 2 })
    store.next.set(0, 1)
    store.takeOver('second')
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    store.next.set(0, 2)
    reads.refresh()
    await vi.waitFor(() => expect(reads.state.status).toBe('up'))
    expect((await reads.range(all)).documents).toBe('1,2')
    await reads.close()
  })

  it('one after the other are proved, when each is looked at', async () => {
    const { store, log, reads } = await proved()
    for (const name of ['second', 'third', 'fourth']) {
      store.takeOver(name)
      expect((await reads.range(all)).documents).toBe('1')
    }
    expect(log.ends).not.toHaveBeenCalled()
    await reads.close()
  })

  it('is not proved when it was started empty', async () => {
    const { store, log, reads } = await proved()
    store.start('second')
    store.apply(1, { partition: 0, next: 1 })
    await someTurns()
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    expect(log.ends).toHaveBeenCalled()
    store.apply(2, { partition: 0, next: 2 })
    await vi.waitFor(() => expect(reads.state.status).toBe('up'))
    await reads.close()
  })

  it('is not proved when the one before was in doubt', async () => {
    const { store, reads } = await proved()
    store.disconnect()
    store.takeOver('second')
    store.connect()
    await someTurns()
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    await reads.close()
  })

  it('is not proved when another one took over in between, unseen', async () => {
    const { store, reads } = await proved()
    store.takeOver('second', false)
    store.takeOver('third', false)
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    await someTurns()
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    store.apply(2, { partition: 0, next: 2 })
    await vi.waitFor(() => expect(reads.state.status).toBe('up'))
    await reads.close()
  })

  it('is in doubt when the connection is lost while its positions are on their way', async () => {
    const { store, reads } = await proved()
    const release = store.hold()
    const before = store.reads.checkpoints
    store.takeOver('second')
    await vi.waitFor(() => expect(store.reads.checkpoints).toBe(before + 1))
    store.disconnect()
    store.connect()
    release()
    await someTurns()
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    store.apply(2, { partition: 0, next: 2 })
    await vi.waitFor(() => expect(reads.state.status).toBe('up'))
    await reads.close()
  })

  it('is met by a read on its way, which then reads once more, and once only', async () => {
    const { store, reads } = await proved()
    const release = store.hold()
    const range = vi.spyOn(store, 'range')
    const onItsWay = [reads.range(all), reads.range({ from: 1, limit: 1 })]
    store.range = (generation, query) => ScriptedStore.prototype.range.call(store, generation, query)
    store.takeOver('second')
    release()
    const answers = await Promise.allSettled(onItsWay)
    expect(range).toHaveBeenCalledTimes(2)
    for (const answer of answers) expect(answer).toMatchObject({ status: 'fulfilled', value: { documents: '1' } })
    await reads.close()
  })

  it('time and again while one reads: the read says that it cannot tell', async () => {
    const { store, reads } = await proved()
    let turn = 0
    const range = vi.spyOn(store, 'range').mockImplementation(async (generation, query) => {
      store.takeOver(`another ${turn++}`)
      return await ScriptedStore.prototype.range.call(store, generation, query)
    })
    await expect(reads.range(all)).rejects.toMatchObject(rebuilding)
    expect(range).toHaveBeenCalledTimes(2)
    range.mockRestore()
    await reads.close()
  })
})
