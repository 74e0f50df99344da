import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ActiveTarget } from '../../src/projector/target.ts'
import type { Generation } from '../../src/read-models/generations.ts'
import { logger } from './projecting.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function open(active: Generation | undefined) {
  const scene = { active, started: 0 }
  const start = async (generation: Generation, instead: string | undefined) => {
    if (scene.active?.name !== instead) return
    scene.active = generation
    scene.started++
  }
  const target = new ActiveTarget({ generations: { start }, log: { logId: 'ours' }, logger })
  const accepts = () => target.accepts(scene.active && { ...scene.active, continues: undefined })
  return { scene, accepts }
}

describe('the active generation as a target', () => {
  it('is taken from another log at once', async () => {
    const { scene, accepts } = open({ name: 'old', logId: 'theirs' })
    expect(await accepts()).toBe(false)
    expect(scene).toMatchObject({ active: { logId: 'ours' }, started: 1 })
    expect(await accepts()).toBe(true)
  })

  it('is not taken again and again from a projector of another log that takes it too', async () => {
    const { scene, accepts } = open({ name: 'old', logId: 'theirs' })
    await accepts()
    for (let i = 0; i < 10; i++) {
      scene.active = { name: `theirs ${i}`, logId: 'theirs' }
      await expect(accepts()).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    }
    expect(scene.started).toBe(1)
    vi.advanceTimersByTime(5000)
    await accepts()
    expect(scene).toMatchObject({ active: { logId: 'ours' }, started: 2 })
  })

  it('is started anew whenever there is none', async () => {
    const { scene, accepts } = open(undefined)
    for (let i = 1; i <= 3; i++) {
      scene.active = undefined
      await accepts()
      expect(scene.started).toBe(i)
    }
  })
})
