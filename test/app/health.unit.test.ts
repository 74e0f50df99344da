import { describe, expect, it } from 'vitest'
import { serviceHealth } from '../../src/app/health.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import type { Lag } from '../../src/projector/lag-meter.ts'
import type { Stall } from '../../src/projector/stall-watch.ts'
import { startOfPartition } from '../../src/read-models/checkpoint.ts'

const away = new ServiceError('event_log_unavailable', 'away')

const active = { name: 'generation', logId: 'log', continues: undefined }
const look = { active, checkpoints: new Map() }

function watched(lag: Lag, stalls: readonly Stall[] | undefined = []) {
  return { lag, stalls }
}

/** The parts of a service, each in the state that a test sets. */
function parts() {
  const state = { log: true, reads: 'up' as 'up' | 'degraded' | 'rebuilding' | 'down' }
  return {
    state,
    log: {
      logId: 'log',
      endOffsets: async () => {
        if (!state.log) throw away
        return [3]
      },
    },
    shards: [{ tracker: { look: async () => look } }],
    reads: {
      get state() {
        return { status: state.reads }
      },
    },
    projectors: { state: { status: 'up' as const, partitions: [0] } },
    lag: watched({ status: 'unknown', reason: 'not looked at yet' }),
  }
}

describe('readiness', () => {
  it('waits for the first catch-up', async () => {
    const { state, ...sources } = parts()
    const health = serviceHealth({ ...sources })
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
    const { state, ...sources } = parts()
    const health = serviceHealth({ ...sources })
    await health.ready()
    Object.assign(state, { log, reads })
    const readiness = await health.ready()
    expect(readiness.ready).toBe(ready)
    expect(readiness.checks).toMatchObject({
      eventLog: log ? { status: 'up', logId: 'log', endOffsets: [3] } : { status: 'down', reason: 'away' },
      readModels: { status: reads },
      projector: { status: 'up', partitions: [0] },
    })
  })

  it('of a projector alone goes by its own state', async () => {
    const { reads: _, state, ...sources } = parts()
    const waiting = { state: { status: 'waiting' as const, partitions: [] } }
    const unready = serviceHealth({ ...sources, projectors: waiting, reads: undefined })
    expect(await unready.ready()).toMatchObject({ ready: false })
    const health = serviceHealth({ ...sources, reads: undefined })
    expect(await health.ready()).toMatchObject({ ready: true, checks: { readModels: { generation: 'generation' } } })
  })
})

describe('the state of the read models', () => {
  const checkpoint = { ...startOfPartition, counts: { ...startOfPartition.counts, parked: 2 } }
  const lag: Lag = {
    status: 'known',
    generation: 'generation',
    partitions: [
      { partition: 0, events: 3, seconds: 1.5, checkpoint },
      { partition: 1, events: 0, seconds: 0, checkpoint },
    ],
  }
  const shown = {
    lag: [
      { partition: 0, events: 3, seconds: 1.5 },
      { partition: 1, events: 0, seconds: 0 },
    ],
    parked: 4,
  }

  it.each(['api', 'projector'])('tells the lag and the number of parked events, of role %s', async (role) => {
    const { state, reads, ...sources } = parts()
    const health = serviceHealth({ ...sources, reads: role === 'api' ? reads : undefined, lag: watched(lag) })
    expect((await health.ready()).checks.readModels).toMatchObject({ status: 'up', ...shown })
  })

  it('says that the lag is not known, and why; ready all the same', async () => {
    const { state, ...sources } = parts()
    const health = serviceHealth({ ...sources, lag: watched({ status: 'unknown', reason: 'away' }) })
    const { ready, checks } = await health.ready()
    expect([ready, checks.readModels]).toEqual([true, { status: 'up', lag: 'unknown', lagUnknown: 'away' }])
  })

  it('makes nothing unready, however far behind', async () => {
    const { state, ...sources } = parts()
    const stalls = [{ partition: 0, next: 4, events: 3, seconds: 30 }]
    expect(await serviceHealth({ ...sources, lag: watched(lag, stalls) }).ready()).toMatchObject({ ready: true })
  })
})

describe('liveness', () => {
  it('is given while the projector gets on', () => {
    const { state, ...sources } = parts()
    expect(serviceHealth(sources).live()).toEqual({ live: true, checks: { projector: { status: 'ok' } } })
  })

  it('fails on a stall, and names the partitions', () => {
    const { state, ...sources } = parts()
    const stalls = [{ partition: 0, next: 4, events: 3, seconds: 30 }]
    expect(serviceHealth({ ...sources, lag: watched(sources.lag.lag, stalls) }).live()).toEqual({
      live: false,
      checks: { projector: { status: 'stalled', partitions: stalls } },
    })
  })

  it('never fails in a process that does not project', () => {
    const { state, ...sources } = parts()
    const health = serviceHealth({ ...sources, projectors: undefined, lag: { ...sources.lag, stalls: undefined } })
    expect(health.live()).toEqual({ live: true, checks: {} })
  })
})
