import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { SingleFlight } from '../../../src/engine/lib/single-flight.ts'

/** A flight whose runs end when the test says. */
function held() {
  const ends: (() => void)[] = []
  const task = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)))
  const end = async (run: number) => {
    ends[run]?.()
    await nextTurn()
  }
  return { task, end, flight: new SingleFlight(task) }
}

function settled(promise: Promise<void>) {
  const done = vi.fn()
  void promise.then(done)
  return done
}

describe('single flight', () => {
  it('runs at once, and resolves with the end of the run', async () => {
    const { flight, task, end } = held()
    const done = settled(flight.request())
    expect(task).toHaveBeenCalledOnce()
    await nextTurn()
    expect(done).not.toHaveBeenCalled()
    await end(0)
    expect(done).toHaveBeenCalledOnce()
  })

  it('those that ask during a run share the one after it', async () => {
    const { flight, task, end } = held()
    const [first, second, third] = [flight.request(), flight.request(), flight.request()].map(settled)
    await end(0)
    expect(first).toHaveBeenCalledOnce()
    expect(second).not.toHaveBeenCalled()
    const fourth = settled(flight.request())
    await end(1)
    for (const each of [second, third]) expect(each).toHaveBeenCalledOnce()
    expect(fourth).not.toHaveBeenCalled()
    await end(2)
    expect(fourth).toHaveBeenCalledOnce()
    expect(task).toHaveBeenCalledTimes(3)
  })

  it('nobody waits longer for the others that keep asking', async () => {
    const { flight, end } = held()
    const asked = settled(flight.request())
    for (let run = 0; run < 3; run++) {
      void flight.request()
      await end(run)
    }
    expect(asked).toHaveBeenCalledOnce()
  })

  it('never runs two at a time', async () => {
    let running = 0
    let most = 0
    const flight = new SingleFlight(async () => {
      most = Math.max(most, ++running)
      await nextTurn()
      running--
    })
    const ask = async () => {
      for (let i = 0; i < 20; i++) {
        await flight.request()
        if (i % 3 === 0) await nextTurn()
      }
    }
    await Promise.all([ask(), ask(), ask()])
    expect(most).toBe(1)
  })

  it('stops with the run that has begun; those that wait for another one are let go', async () => {
    const { flight, task, end } = held()
    void flight.request()
    const waiting = settled(flight.request())
    const stopped = settled(flight.stop())
    await nextTurn()
    expect(stopped).not.toHaveBeenCalled()
    await end(0)
    for (const each of [waiting, stopped]) expect(each).toHaveBeenCalledOnce()
    await flight.request()
    expect(task).toHaveBeenCalledOnce()
  })
})
