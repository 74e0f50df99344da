import type { Deployment } from './manifests.ts'
import { untilReady } from './on-brokers.ts'
import { type Cluster, type Ending, Pod } from './pod.ts'

/**
 * How long nodes may go on to send new connections to a pod that is no endpoint any more, in milliseconds: a node that is slow
 * to learn of it.
 */
const lagMs = 3000

/** The pods of a Deployment. `seen` is told where nodes send new connections. */
export class RollOut {
  readonly endings: Promise<Ending>[] = []
  /** All that there ever were. */
  readonly started: Pod[] = []
  readonly #deployment: Deployment
  readonly #cluster: Cluster
  readonly #seen: (endpoints: readonly Pod[]) => void

  constructor(deployment: Deployment, cluster: Cluster, seen: (endpoints: readonly Pod[]) => void = () => {}) {
    this.#deployment = deployment
    this.#cluster = cluster
    this.#seen = seen
  }

  async scaleTo(count: number): Promise<void> {
    await untilReady(await Promise.all(Array.from({ length: count }, () => this.#start())))
  }

  /** A new pod is ready before an old one is told to end, whose end nobody waits for. */
  async replaceAll(): Promise<void> {
    for (const old of [...this.started]) {
      await untilReady([await this.#start()])
      this.endings.push(old.terminate())
    }
  }

  /** Ends one as a drain does, and another one is started. */
  async drainOne(): Promise<void> {
    const old = this.started.find(({ isEndpoint }) => isEndpoint)
    if (old === undefined) throw new Error('no pod is ready')
    this.endings.push(old.terminate())
    await untilReady([await this.#start()])
  }

  async #start(): Promise<Pod> {
    const pod = await Pod.start(this.#deployment, this.#cluster, () => {
      const endpoints = this.started.filter(({ isEndpoint }) => isEndpoint)
      setTimeout(() => this.#seen(endpoints), lagMs)
    })
    this.started.push(pod)
    return pod
  }
}
