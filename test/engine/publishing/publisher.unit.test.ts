import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { nothingTold, type PublishedLog, RightMissing, StandsStill } from '../../../src/engine/log/published-log.ts'
import type { Lag } from '../../../src/engine/projector/lag-meter.ts'
import { Publisher } from '../../../src/engine/publishing/publisher.ts'
import { eventTelling } from '../../../src/engine/publishing/teller.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'
import { openPublishedWorld } from './published-world.ts'

const patience = { timeout: 10_000, interval: 10 }
const unknown: Lag = { status: 'unknown', reason: 'away' }
const behind = (seconds: number, events = 0): Lag => ({
  status: 'known',
  generation: 'g',
  partitions: [{ partition: 0, events, seconds, checkpoint: startOfPartition }],
})

/** A publisher whose topics are prepared, and whose lanes are assigned, as the test has it. */
async function openPublisher(prepare: () => Promise<number> = async () => 3, takeOver?: PublishedLog['takeOver']) {
  const world = await openPublishedWorld()
  const state = { lag: unknown as Lag, looks: 0, members: 0 }
  let assign: (lanes: readonly number[]) => void = () => {}
  const published: Omit<PublishedLog, 'inspect'> = {
    publisher: 'events',
    warnings: [],
    prepare: vi.fn(prepare),
    join: (_, assigned) => {
      state.members++
      assign = assigned
      return { failure: undefined, heartbeat: async () => {}, close: async () => void state.members-- }
    },
    takeOver:
      takeOver ??
      (async () => ({
        memory: new Map([[0, nothingTold]]),
        commit: async () => {},
        check: async () => {},
        close: () => {},
      })),
    close: vi.fn(),
  }
  const { newest } = world.releases
  const lag = () => {
    state.looks++
    return state.lag
  }
  const publisher = new Publisher({
    ...{ published, lag, telling: eventTelling, logger: pino({ level: 'silent' }) },
    ...{ definition: newest.definition, log: world.log, readModel: newest.readModel },
  })
  onTestFinished(() => publisher.close())
  /** Resolves once it has looked again at how far the read models are. */
  async function lookedAgain(): Promise<void> {
    const before = state.looks
    await vi.waitFor(() => expect(state.looks).toBeGreaterThan(before + 1), patience)
  }
  return { publisher, published, state, lookedAgain, assign: (...lanes: number[]) => assign(lanes) }
}

it('takes part while its read models are near the end of the log, and makes way when they are far from it', async () => {
  const { publisher, state, assign, lookedAgain } = await openPublisher()
  state.lag = behind(30)
  await lookedAgain()
  expect(state.members).toBe(0)
  expect(publisher.state.failure).toContain('have not caught up')
  state.lag = behind(0)
  await vi.waitFor(() => expect(state.members).toBe(1), patience)
  assign(0, 2)
  expect(publisher.state.lanes.map(({ lane }) => lane)).toEqual([0, 2])
  state.lag = unknown
  await lookedAgain()
  expect(state.members).toBe(1)
  state.lag = behind(61)
  await vi.waitFor(() => expect(state.members).toBe(0), patience)
  expect(publisher.state).toMatchObject({ lanes: [], failure: expect.stringContaining('too far behind') })
})

it('keeps the lanes that it has, and says how far behind each of its partitions is', async () => {
  const { publisher, state, assign } = await openPublisher()
  state.lag = behind(0, 7)
  await vi.waitFor(() => expect(state.members).toBe(1), patience)
  assign(0)
  await vi.waitFor(
    () => expect(publisher.state.lanes[0]?.partitions).toMatchObject([{ partition: 0, events: 7 }]),
    patience,
  )
  await vi.waitFor(() => expect(publisher.state.lanes[0]?.partitions[0]?.seconds).toBeGreaterThan(0), patience)
  assign(0, 1)
  expect(publisher.state.lanes.map(({ partitions }) => partitions.length)).toEqual([1, 0])
})

it('warns once of what several lanes stand still for, and of no failure that passes by itself', async () => {
  const { publisher, state, assign } = await openPublisher(undefined, async (lane) => {
    throw lane === 2 ? new Error('no answer') : new StandsStill('delete it')
  })
  state.lag = behind(0)
  await vi.waitFor(() => expect(state.members).toBe(1), patience)
  assign(0, 1, 2)
  const failures = ['delete it', 'delete it', 'no answer']
  await vi.waitFor(() => expect(publisher.state.lanes.map(({ failure }) => failure)).toEqual(failures), patience)
  expect(publisher.state.warnings).toEqual([{ code: 'publishing_stands_still', message: 'delete it' }])
})

it('says why the topics cannot be prepared, and ends at once while that takes long', async () => {
  const refusing = await openPublisher(async () => {
    throw new RightMissing('no right')
  })
  refusing.state.lag = behind(0)
  await vi.waitFor(() => expect(refusing.publisher.state.failure).toBe('no right'), patience)
  const warnings = [{ code: 'published_right_missing', message: 'no right' }]
  expect(refusing.publisher.state).toMatchObject({ warnings })

  const { publisher, published, state } = await openPublisher(() => new Promise(() => {}))
  state.lag = behind(0)
  await vi.waitFor(() => expect(published.prepare).toHaveBeenCalled(), patience)
  await publisher.close()
  expect(published.close).toHaveBeenCalled()
})
