import { once } from 'node:events'
import { connect } from 'node:net'
import { type Redis, ReplyError } from 'ioredis'

/** What a server says that answers, but does not do what it is asked, and what an operator does about it. */
const remedies: readonly (readonly [said: RegExp, remedy: string])[] = [
  [/max number of clients/i, 'raise its maxclients, or end other clients of it'],
  [/^DENIED/, 'let clients of other machines in by its settings bind, protected-mode and requirepass'],
  [/^MISCONF/, 'it cannot save its data: its own log says why, and its disk needs room and rights'],
  [/^NOREPLICAS/, 'start its replicas, or lower its min-replicas-to-write'],
  [/^OOM/, 'raise its maxmemory, or remove what others store in it'],
  [/^READONLY/, 'it is a replica: name its master in REDIS_URL'],
  [/^CLUSTERDOWN/, 'bring the missing masters of its cluster back'],
  [/^MOVED/, 'its cluster has the slot at another node: if that lasts, start this process again'],
  [/^NOPERM/, "give this user the rights that the command runbook says under 'Rights in Kafka and Redis'"],
]
const refusesClient = /^(WRONGPASS|NOAUTH|NOPERM|ERR .*(AUTH|password|DB index))/i
const listenMs = 500

export function remedyOf(said: string): string | undefined {
  return remedies.find(([pattern]) => pattern.test(said))?.[1]
}

/** Whether the server said so: `ReplyError` of ioredis has no type of its own. */
export function isReply(error: unknown): error is Error {
  return error instanceof ReplyError
}

/** Whether a key is not of the type that the command is for. Before Redis 7 the error of a script has more in front. */
export function isOfAnotherType(error: unknown): boolean {
  return isReply(error) && /\bWRONGTYPE\b/.test(error.message)
}

/** What waiting does not resolve: credentials or rights are wrong. */
export function isRefusal(error: Error): boolean {
  return isReply(error) && refusesClient.test(error.message)
}

/** The answer of a server, with what to do about it where that is known. */
export function withRemedy(error: unknown): unknown {
  const remedy = isReply(error) ? remedyOf(error.message) : undefined
  return remedy === undefined ? error : new Error(`${(error as Error).message} (${remedy})`, { cause: error })
}

/**
 * What a server says to a client that it does not serve, with what to do about it; undefined where it says nothing. The
 * client itself often cannot tell: a server that has too many clients closes the connection while the client writes.
 */
export async function whyNotServed(redis: Redis, lastError?: Error): Promise<string | undefined> {
  if (redis.status === 'connect') return await whatItDoes(redis)
  const said = isReply(lastError) ? lastError.message : await whatItSays(redis)
  return said && `refuses this client (${said}): ${remedyOf(said) ?? 'its own log says more'}`
}

/** A connected client is ready once the server has loaded its data. */
async function whatItDoes(redis: Redis): Promise<string | undefined> {
  const info = await redis.info('persistence').catch(() => '')
  if (!/^loading:1/m.test(info)) return undefined
  const percent = /^loading_loaded_perc:([\d.]+)/m.exec(info)?.[1] ?? '?'
  return `is still loading its data (${percent} %): wait until it has, and try again`
}

/** Listens without a word, so that what a server says before it closes is not lost. */
async function whatItSays({ options: { host, port, path, tls } }: Redis): Promise<string | undefined> {
  if (tls !== undefined) return undefined // nothing is said before a handshake
  const socket = path ? connect(path) : connect(Number(port), host)
  try {
    const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(listenMs) })
    return /^-(.*)\r?$/m.exec(String(data))?.[1]
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}
