import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { IncompleteGenerations } from '../../../src/engine/read-models/incomplete.ts'
import { eventually } from '../../lib/eventually.ts'

const shortMs = 20

/** Generations of which some lost data, and a process that looks at the active one over and over. */
function start(pauseMs = shortMs) {
  const incomplete = new Set<string>()
  const started: { name: string; instead: string | undefined; atMs: number }[] = []
  const state = { active: 'first', failures: 0 }
  const generations = {
    start: async ({ name }: { name: string }, instead: string | undefined) => {
      if (state.failures-- > 0) throw new Error('no answer')
      if (instead !== state.active) return false
      started.push({ name, instead, atMs: performance.now() })
      state.active = name
      return true
    },
  }
  const watch = new IncompleteGenerations(generations, 'log', pino({ level: 'silent' }), pauseMs)
  looking = setInterval(() => watch.looked(state.active, { isComplete: !incomplete.has(state.active) }), 2)
  return { watch, incomplete, started, state }
}

let looking: ReturnType<typeof setInterval>
afterEach(() => clearInterval(looking))

/** Resolves to the replacement, once there are so many. */
async function replacement({ started }: ReturnType<typeof start>, count: number): Promise<string> {
  await eventually(() => expect(started).toHaveLength(count))
  return started.at(-1)?.name ?? ''
}

describe('a generation that lost data', () => {
  it('is replaced, and so is each replacement that loses data again, after a pause', async () => {
    const scene = start()
    scene.incomplete.add('first')
    let last = await replacement(scene, 1)
    for (const count of [2, 3]) {
      const lostMs = performance.now()
      scene.incomplete.add(last)
      last = await replacement(scene, count)
      expect((scene.started.at(-1)?.atMs ?? 0) - lostMs).toBeGreaterThanOrEqual(shortMs - 1)
    }
    expect(scene.started.map(({ instead }) => instead)).toEqual(
      ['first', ...scene.started.map(({ name }) => name)].slice(0, 3),
    )
    expect(scene.watch.count).toBe(3)
    await eventually(() => expect(scene.watch.current).toBeUndefined())
  })

  it('is left alone if another process replaced it during the pause', async () => {
    const scene = start()
    scene.incomplete.add('first')
    const last = await replacement(scene, 1)
    scene.incomplete.add(last)
    await eventually(() => expect(scene.watch.current).toBe(last))
    scene.state.active = 'of another process'
    await eventually(() => expect(scene.watch.current).toBeUndefined())
    scene.incomplete.add('of another process')
    await replacement(scene, 2)
    expect(scene.started.at(-1)?.instead).toBe('of another process')
  })

  it.each(['first', 'first.replacement'])('is replaced by a later look if that failed: %s', async (name) => {
    const scene = start()
    scene.state.active = name
    scene.state.failures = 2
    scene.incomplete.add(name)
    await replacement(scene, 1)
    expect(scene.started).toMatchObject([{ instead: name }])
  })

  it('is replaced again if it is active again, whether or not a look saw its replacement', async () => {
    for (const isReplacementSeen of [true, false]) {
      const scene = start()
      scene.incomplete.add('first')
      const name = await replacement(scene, 1)
      if (isReplacementSeen) await eventually(() => expect(scene.watch.current).toBeUndefined())
      scene.state.active = 'first'
      await replacement(scene, 2)
      expect(scene.started).toMatchObject([{ instead: 'first' }, { instead: 'first' }])
      expect(name).not.toBe(scene.state.active)
      clearInterval(looking)
    }
  })

  it('is replaced after the pause although the looks of its store count nothing', async () => {
    const scene = start()
    scene.state.active = 'first.replacement'
    scene.watch.report('first.replacement')
    const reportedMs = performance.now()
    await eventually(() => {
      expect(performance.now() - reportedMs).toBeGreaterThan(2 * shortMs)
      expect(scene.watch.current).toBeUndefined()
    })
    scene.watch.report('first.replacement')
    await replacement(scene, 1)
    expect(scene.started).toMatchObject([{ instead: 'first.replacement' }])
  })

  it('is counted once, although late reads report it after its replacement', async () => {
    const scene = start(60_000)
    scene.incomplete.add('first')
    await replacement(scene, 1)
    await eventually(() => expect(scene.watch.current).toBeUndefined())
    scene.watch.report('first')
    expect(scene.watch.count).toBe(1)
  })
})
