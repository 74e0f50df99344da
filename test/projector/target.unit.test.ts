import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ActiveTarget } from '../../src/projector/target.ts'
import type { Generation } from '../../src/read-models/read-models.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function open(active: Generation | undefined) {
  const scene = { active, started: 0 }
  const store = {
    active: async () => scene.active && { ...scene.active, continues: undefined },
    start: async (generation: Generation, instead: string | undefined) => {
      if (scene.active?.name !== instead) return
      scene.active = generation
      scene.started++
    },
  }
  const target = new ActiveTarget({ store, log: { epoch: 'ours' }, logger: pino({ level: 'silent' }) })
  return { scene, target }
}

describe('the active generation as a target', () => {
  it('is taken from another log at once', async () => {
    const { scene, target } = open({ name: 'old', epoch: 'theirs' })
    expect(await target.current()).toBe(scene.active?.name)
    expect(scene).toMatchObject({ active: { epoch: 'ours' }, started: 1 })
  })

  it('is not taken again and again from a projector of another log that takes it too', async () => {
    const { scene, target } = open({ name: 'old', epoch: 'theirs' })
    await target.current()
    for (let i = 0; i < 10; i++) {
      scene.active = { name: `theirs ${i}`, epoch: 'theirs' }
      await expect(target.current()).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    }
    expect(scene.started).toBe(1)
    vi.advanceTimersByTime(5000)
    await target.current()
    expect(scene).toMatchObject({ active: { epoch: 'ours' }, started: 2 })
  })

  it('is started anew whenever there is none', async () => {
    const { scene, target } = open(undefined)
    for (let i = 1; i <= 3; i++) {
      scene.active = undefined
      await target.current()
      expect(scene.started).toBe(i)
    }
  })
})
