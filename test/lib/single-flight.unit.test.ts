import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { SingleFlight } from '../../src/lib/single-flight.ts'

/** A task whose runs end when the test says. */
function heldTask() {
  const ends: (() => void)[] = []
  const task = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)))
  return { task, end: (run: number) => ends[run]?.() }
}

function settled(promise: Promise<void>) {
  const done = vi.fn()
  void promise.then(done)
  return done
}

describe('single flight', () => {
  it('runs at once, and resolves with the end of the run', async () => {
    const { task, end } = heldTask()
    const done = settled(new SingleFlight(task).request())
    expect(task).toHaveBeenCalledOnce()
    await nextTurn()
    expect(done).not.toHaveBeenCalled()
    end(0)
    await nextTurn()
    expect(done).toHaveBeenCalledOnce()
  })

  it('those that ask during a run share the one after it', async () => {
    const { task, end } = heldTask()
    const flight = new SingleFlight(task)
    const [first, second, third] = [flight.request(), flight.request(), flight.request()].map(settled)
    end(0)
    await nextTurn()
    expect(first).toHaveBeenCalledOnce()
    expect(second).not.toHaveBeenCalled()
    end(1)
    await nextTurn()
    expect(second).toHaveBeenCalledOnce()
    expect(third).toHaveBeenCalledOnce()
    expect(task).toHaveBeenCalledTimes(2)
  })

  it('nobody waits longer for the others that keep asking', async () => {
    const { task, end } = heldTask()
    const flight = new SingleFlight(task)
    const asked = settled(flight.request())
    for (let run = 0; run < 3; run++) {
      void flight.request()
      end(run)
      await nextTurn()
    }
    expect(asked).toHaveBeenCalledOnce()
  })

  it('never runs two at a time, whoever asks when', async () => {
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
    const { task, end } = heldTask()
    const flight = new SingleFlight(task)
    void flight.request()
    const waiting = settled(flight.request())
    const stopped = settled(flight.stop())
    await nextTurn()
    expect(stopped).not.toHaveBeenCalled()
    end(0)
    await nextTurn()
    expect(waiting).toHaveBeenCalledOnce()
    expect(stopped).toHaveBeenCalledOnce()
    await flight.request()
    expect(task).toHaveBeenCalledOnce()
  })
})
