import { describe, expect, it } from 'vitest'
import { ServiceError } from '../src/errors.ts'
import { ServiceHealth } from '../src/service-health.ts'

const away = new ServiceError('event_log_unavailable', 'away')

/** The parts of a service, each in the state that a test sets. */
function parts() {
  const state = { log: true, reads: 'up' as 'up' | 'rebuilding' | 'down' }
  return {
    state,
    log: {
      epoch: 'epoch',
      ends: async () => {
        if (!state.log) throw away
        return [3]
      },
    },
    store: { active: async () => ({ name: 'generation', epoch: 'epoch' }) },
    reads: {
      get state() {
        return { status: state.reads }
      },
    },
    projector: { state: { status: 'up' as const, partitions: [0] } },
  }
}

describe('readiness', () => {
  it('waits for the first catch-up', async () => {
    const { state, ...sources } = parts()
    const health = new ServiceHealth({ ...sources })
    state.reads = 'rebuilding'
    expect(await health.ready()).toMatchObject({ ready: false, checks: { readModels: { status: 'rebuilding' } } })
    state.reads = 'up'
    expect(await health.ready()).toMatchObject({ ready: true })
  })

  it.each([
    { log: true, reads: 'rebuilding', ready: true },
    { log: true, reads: 'down', ready: true },
    { log: false, reads: 'up', ready: true },
    { log: false, reads: 'rebuilding', ready: false },
    { log: false, reads: 'down', ready: false },
  ] as const)('after it, with %o', async ({ log, reads, ready }) => {
    const { state, ...sources } = parts()
    const health = new ServiceHealth({ ...sources })
    await health.ready()
    Object.assign(state, { log, reads })
    const readiness = await health.ready()
    expect(readiness.ready).toBe(ready)
    expect(readiness.checks).toMatchObject({
      eventLog: log ? { status: 'up', ends: [3] } : { status: 'down', reason: 'away' },
      readModels: { status: reads },
      projector: { status: 'up', partitions: [0] },
    })
  })

  it('of a projector alone goes by its own state', async () => {
    const { log, store, projector } = parts()
    const waiting = { state: { status: 'waiting' as const, partitions: [] } }
    expect(await new ServiceHealth({ log, store, projector: waiting, reads: undefined }).ready()).toMatchObject({
      ready: false,
    })
    const health = new ServiceHealth({ log, store, projector, reads: undefined })
    expect(await health.ready()).toMatchObject({ ready: true, checks: { readModels: { generation: 'generation' } } })
  })
})
