import { expect, it, vi } from 'vitest'
import { AppliedProgress } from '../../src/read-models/applied-progress.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { applyAll, firstBatch, insert } from './contract/samples.ts'
import { ScriptedStore } from './scripted-store.ts'

it('what is applied to a generation that is being built counts from when it takes over', async () => {
  const store = openSqliteReadModels({ file: ':memory:', version: 'v1' })
  const progress = new AppliedProgress(store)
  await store.start({ name: 'first', epoch: 'epoch' }, undefined)
  await store.build({ name: 'second', epoch: 'epoch' })
  await applyAll(store, 'second', firstBatch({ inserts: [insert(1)] }))
  expect(await progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: 1 })).toBe(false)
  const waiting = progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: 1_000_000 })
  expect(await store.activate('second')).toBe('activated')
  expect(await waiting).toBe(true)
  progress.close()
  await store.close()
})

it('what was read of a generation before another one was started does not count', async () => {
  const store = new ScriptedStore()
  store.apply(1, { partition: 0, next: 1 })
  const release = store.hold()
  const progress = new AppliedProgress(store)
  await vi.waitFor(() => expect(store.reads.checkpoints).toBe(1)) // on its way
  store.start('second')
  release()
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  expect(await progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: 0 })).toBe(false)
  progress.close()
})
