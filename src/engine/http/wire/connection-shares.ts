import type { KeyHolder } from '../../api-keys/key-ring.ts'
import type { Connection } from './connection.ts'

/** Whoever has just connected is a stranger: with less, they would close each other's before their keys are read. */
const partOfStrangers = 0.25

/** The connections of an API key, or of an address without one. */
interface Share {
  readonly name: string
  readonly holder: KeyHolder | undefined
  /** The one whose last request, or opening, is longest ago comes first. */
  readonly connections: Set<Connection>
}

/**
 * Who holds how many connections, to find the one that makes room for another. Those of trusted proxies belong to nobody
 * here: they carry many clients, and none is closed to make room.
 */
export class ConnectionShares {
  readonly #shares = new Map<string, Share>()
  readonly #shareOf = new WeakMap<Connection, Share>()
  readonly #isKeyValid: (keyId: string) => boolean

  constructor(isKeyValid: (keyId: string) => boolean) {
    this.#isKeyValid = isKeyValid
  }

  add(connection: Connection): void {
    const { holder, network } = connection
    if (network === undefined) return
    this.remove(connection)
    const name = holder === undefined ? `address ${network}` : `key ${holder.keyId}`
    const share = this.#shares.get(name) ?? { name, holder, connections: new Set() }
    this.#shares.set(name, share)
    share.connections.add(connection)
    this.#shareOf.set(connection, share)
  }

  remove(connection: Connection): void {
    const share = this.#shareOf.get(connection)
    if (share === undefined) return
    this.#shareOf.delete(connection)
    share.connections.delete(connection)
    if (share.connections.size === 0) this.#shares.delete(share.name)
  }

  /** A request came on it. */
  use(connection: Connection): void {
    const connections = this.#shareOf.get(connection)?.connections
    if (connections?.delete(connection)) connections.add(connection)
  }

  isStranger({ holder }: Pick<Connection, 'holder'>): boolean {
    return holder === undefined || !this.#isKeyValid(holder.keyId)
  }

  /**
   * The longest idle of the owner of keys who holds the most; where strangers hold more than their part of `max`, that of the
   * stranger who does. Where these have none, the same of the others.
   */
  toMakeRoom(max: number): Connection | undefined {
    for (const share of this.#shares.values()) {
      if (share.holder !== undefined && this.isStranger(share)) this.#makeStrangers(share)
    }
    const shares = [...this.#shares.values()]
    const strangers = shares.filter(({ holder }) => holder === undefined)
    const holders = shares.filter(({ holder }) => holder !== undefined)
    const count = strangers.reduce((sum, { connections }) => sum + connections.size, 0)
    const [first, others] = count > max * partOfStrangers ? [strangers, holders] : [holders, strangers]
    return idleOfMost(first) ?? idleOfMost(others)
  }

  #makeStrangers({ connections }: Share): void {
    for (const connection of connections) {
      connection.holder = undefined
      this.add(connection)
    }
  }
}

function idleOfMost(shares: readonly Share[]): Connection | undefined {
  const counts = new Map<string, number>()
  const whose = ({ name, holder }: Share) => holder?.owner ?? name
  for (const share of shares) counts.set(whose(share), (counts.get(whose(share)) ?? 0) + share.connections.size)
  let [most, found]: [number, Connection | undefined] = [0, undefined]
  for (const share of shares) {
    const count = counts.get(whose(share)) ?? 0
    const idle = count > most ? share.connections.values().find(({ isIdle }) => isIdle) : undefined
    if (idle !== undefined) [most, found] = [count, idle]
  }
  return found
}
