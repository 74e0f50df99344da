import { describe, expect, it } from 'vitest'
import { type HealthOptions, serviceHealth } from '../../../src/engine/app/health.ts'
import type { ReadStatus } from '../../../src/engine/app/shards.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { Warning } from '../../../src/engine/lib/operating/warning.ts'
import type { Lag } from '../../../src/engine/projector/lag-meter.ts'
import type { PublisherState } from '../../../src/engine/publishing/publisher.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'

const active = { name: 'generation', logId: 'log', continues: undefined }
const stalls = [{ partition: 0, next: 4, events: 3, seconds: 30 }]
const unknown: Lag = { status: 'unknown', reason: 'not looked at yet' }

function shard(current?: string): HealthOptions['shards'][number] {
  const tracker = { lastLook: { active, checkpoints: new Map(), isComplete: true, building: undefined } }
  return { tracker, store: { warnings: [] }, incomplete: { current } }
}

/** The health of a service whose parts are in the state that a test sets. */
function open(over: Partial<HealthOptions> = {}, warnings: readonly Warning[] = []) {
  const state = { log: true, reads: 'up' as ReadStatus, warnings }
  const health = serviceHealth({
    log: {
      logId: 'log',
      warnings: state.warnings,
      endOffsets: async () => {
        if (!state.log) throw new ServiceError('event_log_unavailable', 'away')
        return [3]
      },
      undecodable: [],
    },
    shards: [shard()],
    reads: {
      get state() {
        return { status: state.reads }
      },
    },
    projectors: { state: { status: 'up', partitions: [0] } },
    lag: { lag: unknown, stalls: [] },
    publishing: undefined,
    output: { warnings: [] },
    settingFiles: { warnings: [] },
    ...over,
  })
  return { state, health }
}

describe('readiness', () => {
  it('waits for the first catch-up', async () => {
    const { state, health } = open()
    state.reads = 'rebuilding'
    expect(await health.ready()).toMatchObject({ ready: false, checks: { readModels: { status: 'rebuilding' } } })
    state.reads = 'up'
    expect(await health.ready()).toMatchObject({ ready: true })
  })

  it.each([
    { log: true, reads: 'rebuilding', ready: true },
    { log: true, reads: 'down', ready: true },
    { log: false, reads: 'up', ready: true },
    { log: false, reads: 'degraded', ready: true },
    { log: false, reads: 'rebuilding', ready: false },
    { log: false, reads: 'down', ready: false },
  ] as const)('after it, with %o', async ({ log, reads, ready }) => {
    const { state, health } = open()
    await health.ready()
    Object.assign(state, { log, reads })
    expect(await health.ready()).toMatchObject({
      ready,
      checks: {
        eventLog: log ? { status: 'up', logId: 'log', endOffsets: [3] } : { status: 'down', reason: 'away' },
        readModels: { status: reads },
        projector: { status: 'up', partitions: [0] },
      },
    })
  })

  it('is not lost by a warning about the log, which is shown while the log is up or down', async () => {
    const warnings = [{ code: 'too_few_replicas', message: 'Topic seats has 1 of 3 replicas' }]
    const { state, health } = open({}, warnings)
    expect(await health.ready()).toMatchObject({ ready: true, checks: { eventLog: { status: 'up', warnings } } })
    state.log = false
    expect(await health.ready()).toMatchObject({ ready: true, checks: { eventLog: { status: 'down', warnings } } })
    expect((await open().health.ready()).checks.eventLog).not.toHaveProperty('warnings')
  })

  it('is not lost with the lines of the log, which is told while they are', async () => {
    const output: { warnings: Warning[] } = { warnings: [{ code: 'log_lines_lost', message: 'no space left' }] }
    const { health } = open({ output })
    const logOutput = { status: 'down', warnings: output.warnings }
    expect(await health.ready()).toMatchObject({ ready: true, checks: { logOutput } })
    output.warnings = []
    expect((await health.ready()).checks).not.toHaveProperty('logOutput')
  })

  it('is not lost with the file of a setting, which is told while it cannot be read', async () => {
    const settingFiles: { warnings: Warning[] } = { warnings: [{ code: 'setting_unreadable', message: 'it is empty' }] }
    const { health } = open({ settingFiles })
    const settings = { status: 'unreadable', warnings: settingFiles.warnings }
    expect(await health.ready()).toMatchObject({ ready: true, checks: { settings } })
    settingFiles.warnings = []
    expect((await health.ready()).checks).not.toHaveProperty('settings')
  })

  it('of a projector alone goes by its own state', async () => {
    const waiting = { state: { status: 'waiting' as const, partitions: [] } }
    expect(await open({ projectors: waiting, reads: undefined }).health.ready()).toMatchObject({ ready: false })
    const ready = { ready: true, checks: { readModels: { generation: 'generation' } } }
    expect(await open({ reads: undefined }).health.ready()).toMatchObject(ready)
  })
})

describe('the state of the read models', () => {
  const checkpoint = { ...startOfPartition, counts: { ...startOfPartition.counts, parked: 2 } }
  const shown = [
    { partition: 0, events: 3, seconds: 1.5 },
    { partition: 1, events: 0, seconds: 0 },
  ]
  const partitions = shown.map((each) => ({ ...each, checkpoint }))
  const lag: Lag = { status: 'known', generation: 'generation', partitions }

  it.each(['api', 'projector'])('tells lag and parked events, of role %s, and is ready all the same', async (role) => {
    const { health } = open({ lag: { lag, stalls }, ...(role === 'projector' && { reads: undefined }) })
    const readModels = { status: 'up', lag: shown, parked: 4 }
    expect(await health.ready()).toMatchObject({ ready: true, checks: { readModels } })
  })

  it('says that the lag is not known, and why; ready all the same', async () => {
    const { ready, checks } = await open().health.ready()
    expect([ready, checks.readModels]).toEqual([true, { status: 'up', lag: 'unknown', lagUnknown: unknown.reason }])
  })
})

it.each([
  ['is given while the projector gets on', [], true, { projector: { status: 'ok' } }],
  [
    'fails on a stall, and names the partitions',
    stalls,
    false,
    { projector: { status: 'stalled', partitions: stalls } },
  ],
  ['never fails in a process that does not project', undefined, true, {}],
])('liveness %s', (_, stalls, live, checks) => {
  expect(open({ lag: { lag: unknown, stalls } }).health.live()).toEqual({ live, checks })
})

describe('read models that lost something', () => {
  const shards = [shard(), shard('generation')]

  it('hold a projector up for good, which a restart does not cure', () => {
    const ofSecond = { partition: 1, next: 7, events: 1, seconds: 30 }
    const { health } = open({ shards, lag: { lag: unknown, stalls: [ofSecond] } })
    expect(health.live()).toEqual({ live: true, checks: { projector: { status: 'incomplete' } } })
    const both = open({ shards, lag: { lag: unknown, stalls: [ofSecond, ...stalls] } }).health
    expect(both.live()).toEqual({ live: false, checks: { projector: { status: 'stalled', partitions: stalls } } })
  })

  it('are told by a process that projects alone', async () => {
    const { checks } = await open({ shards, reads: undefined }).health.ready()
    expect(checks.readModels).toMatchObject({ status: 'incomplete' })
  })
})

describe('a batch that cannot be decoded', () => {
  const undecodable = [{ partition: 1, offset: 7, reason: 'unexpected end of file' }]
  const log = { logId: 'log', endOffsets: async () => [3], undecodable, warnings: [] }
  const before = { partition: 1, next: 7, events: 1, seconds: 30 }

  it('is named by both probes, and no reason for a restart, which does not cure it', async () => {
    const { health } = open({ log, lag: { lag: unknown, stalls: [before] } })
    expect(health.live()).toEqual({ live: true, checks: { projector: { status: 'undecodable', undecodable } } })
    const { ready, checks } = await health.ready()
    expect([ready, checks.projector]).toEqual([true, { status: 'up', partitions: [0], undecodable }])
  })

  it('hides no stall of another partition', () => {
    const { health } = open({ log, lag: { lag: unknown, stalls: [before, ...stalls] } })
    const projector = { status: 'stalled', partitions: stalls, undecodable }
    expect(health.live()).toEqual({ live: false, checks: { projector } })
  })
})

describe('publishing', () => {
  const partitions = [{ partition: 1, events: 4, seconds: 2, waiting: 0, filling: undefined }]
  const lane = (number: number, failure?: string) => ({ lane: number, failure, partitions })
  const publisher = { publisher: 'events', leftOut: 0, failure: undefined, lanes: [lane(0), lane(1)], warnings: [] }
  const checkOf = async (...states: readonly PublisherState[]) => {
    const { ready, checks } = await open({ publishing: { states } }).health.ready()
    expect(ready).toBe(true)
    return checks.publishing
  }

  it('is up where each publisher takes part, and each lane is told', async () => {
    const publishers = [{ publisher: 'events', failure: undefined, lanes: [0, 1], still: [] }]
    expect(await checkOf(publisher)).toEqual({ status: 'up', publishers })
    expect(await checkOf({ ...publisher, lanes: [] })).toMatchObject({ status: 'up' })
    expect((await open().health.ready()).checks).not.toHaveProperty('publishing')
  })

  it('waits where a process takes no part, or a lane stands still, and makes nobody unready', async () => {
    const behind = { ...publisher, failure: 'The read models are too far behind the log.', lanes: [] }
    expect(await checkOf(behind)).toMatchObject({ status: 'waiting', publishers: [{ failure: behind.failure }] })
    const still = { ...publisher, lanes: [lane(0), lane(1, 'of another log')] }
    expect(await checkOf(publisher, still)).toMatchObject({
      status: 'waiting',
      publishers: [{ still: [] }, { lanes: [0, 1], still: [{ lane: 1, reason: 'of another log' }] }],
    })
  })

  it('warns with what lacks, though it goes on', async () => {
    const warnings = [{ code: 'published_right_missing', message: 'Run kafka-acls.sh' }]
    expect(await checkOf({ ...publisher, warnings })).toMatchObject({ status: 'up', publishers: [{ warnings }] })
  })
})
