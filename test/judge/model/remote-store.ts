import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { Listeners } from '../../../src/engine/read-models/listeners.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { carried } from '../../engine/projector/world.ts'
import type { Wire } from './wire.ts'

/** The read models as one process reaches them. */
export function remoteStore(shared: ReadModelStore, wire: Wire) {
  const listeners = new Listeners({ connected: true })
  let isAway = false
  let messagesToLose = 0
  const endListening = shared.generations.listen({
    progress: (generation, progress) => {
      if (messagesToLose > 0) messagesToLose--
      else if (!isAway) listeners.progress(generation, progress)
    },
    connected() {},
    disconnected() {},
  })
  void wire.end.then(endListening)

  function failIfAway(): void {
    if (isAway) throw new ServiceError('read_model_unavailable', 'The read models are away.')
  }
  function heal(): void {
    messagesToLose = 0
    if (!isAway) return
    isAway = false
    listeners.connected()
  }
  /** A request that arrives has its effect, even when its reply then meets a store that is away. */
  const remote = carried(shared, async (request) => {
    const answer = await wire.carry(async () => {
      failIfAway()
      return await request()
    })
    failIfAway()
    return answer
  })
  const listen: ReadModelStore['generations']['listen'] = (listener) => listeners.add(listener)
  return {
    ...remote,
    generations: { ...remote.generations, listen },
    heal,
    loseMessages(count: number): void {
      messagesToLose += count
    },
    goAwayFor(ms: number): void {
      isAway = true
      listeners.disconnected()
      setTimeout(heal, ms)
    },
  }
}
