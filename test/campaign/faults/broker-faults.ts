import type { Controllable } from '../../brokers/brokers.ts'
import { type Fault, lasting } from './fault.ts'

/** Faults of any broker or server, one of `nodes` at a time. `kind` is what one of them is called. */
export function brokerFaults(kind: string, nodes: readonly Controllable[]): Fault[] {
  return [
    lasting(`kill -9 of ${kind}`, (random) => {
      const node = random.pick(nodes)
      return { wrong: () => node.kill(), right: () => node.start() }
    }),
    {
      kind: `restart of ${kind}`,
      inflict: async ({ random }) => {
        const node = random.pick(nodes)
        await node.stop()
        await node.start()
        return true
      },
    },
    lasting(`${kind} stands still (SIGSTOP)`, (random) => {
      const node = random.pick(nodes)
      return { wrong: () => node.pause(), right: () => node.resume() }
    }),
  ]
}
