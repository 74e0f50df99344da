import { setTimeout as delay } from 'node:timers/promises'
import { checkDocuments } from '../judge/documents.ts'
import { type Contradiction, contradiction, type History } from '../judge/history.ts'
import type { Shown } from '../judge/operations.ts'
import { checkPublished } from '../judge/published.ts'
import { services } from '../judge/services.ts'
import { HttpClient } from '../lib/http-client.ts'
import { followToEnd } from './followers.ts'
import { paths, type Recorder } from './recorder.ts'
import { apiKey, type Scenario } from './system/scenario.ts'
import type { Supervised } from './system/supervised.ts'

const caughtUpWithinMs = 30_000
const publishedWithinMs = 60_000
/** A process looks at its lag once a second, so what it tells is of a moment after the last request by then. */
const lookedMs = 2000

/**
 * Once nobody asks for anything any more, the read models that each process sees come to the end of the log within 30 s.
 * Resolves to what was not so.
 */
export async function caughtUp(
  { apis, partitions }: Pick<Scenario, 'apis' | 'partitions'>,
  withinMs = caughtUpWithinMs,
): Promise<Contradiction[]> {
  const deadline = performance.now() + withinMs
  await delay(Math.min(lookedMs, withinMs))
  const behind = await Promise.all(
    apis.map(async (api) => {
      for (;;) {
        const lag = lagIn(await readinessOf(api), partitions)
        if (lag === undefined) return []
        if (performance.now() > deadline) {
          return [
            contradiction('the read models stay behind', `${api.instance}, ${withinMs / 1000} s after the end: ${lag}`),
          ]
        }
        await delay(200)
      }
    }),
  )
  return behind.flat()
}

/** The text of the answer says why it does not tell that all partitions are at their ends; undefined if it does. */
function lagIn(report: string, partitions: number): string | undefined {
  const lag = lagOf(report)
  const isKnown = Array.isArray(lag) && lag.length === partitions
  return isKnown && lag.every(({ events }) => events === 0) ? undefined : report.slice(0, 2000)
}

function lagOf(report: string): unknown {
  try {
    return JSON.parse(report).checks?.readModels?.lag
  } catch {
    return undefined
  }
}

async function readinessOf({ url }: Supervised): Promise<string> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) })
    return await answer.text()
  } catch (error) {
    return `no answer: ${error}`
  }
}

/** Each process tells all events from the start to the end of the log, as the checkers compare. Resolves to what was not so. */
export async function followed(
  { apis, partitions, readLog }: Pick<Scenario, 'apis' | 'partitions' | 'readLog'>,
  recorder: Recorder,
): Promise<Contradiction[]> {
  const log = await readLog()
  const ends = Array.from({ length: partitions }, (_, each) => log.filter(({ partition }) => partition === each).length)
  const stuck = await Promise.all(
    apis.map(async (api) => {
      const missing = await followToEnd({ recorder, apiKey }, api, ends)
      return missing === undefined ? [] : [contradiction('the feed stands still', `${api.instance}: ${missing}`)]
    }),
  )
  return stuck.flat()
}

/** Within a minute what is published is what took effect, though whoever publishes was disturbed. Resolves to what was not so. */
export async function published(
  { partitions, readPublished }: Pick<Scenario, 'partitions' | 'readPublished'>,
  history: History,
): Promise<readonly Contradiction[]> {
  if (readPublished === undefined) return []
  return await untilNothingIsFound(async () => checkPublished(history, partitions, await readPublished()))
}

/** Within a minute the last value of each document is what GET shows. Resolves to what was not so. */
export async function documented(
  { apis: [api], partitions, readDocuments }: Pick<Scenario, 'apis' | 'partitions' | 'readDocuments'>,
  history: History,
): Promise<readonly Contradiction[]> {
  if (readDocuments === undefined || api === undefined) return []
  const client = new HttpClient(api, apiKey)
  return await untilNothingIsFound(async () => {
    const { collections } = services[history.service ?? 'petstore']
    const found = collections.map(async (collection) =>
      checkDocuments(history, partitions, {
        ...{ collection, records: await readDocuments(collection) },
        shown: (id) => shownIn(client, collection, id),
      }),
    )
    return (await Promise.all(found)).flat()
  })
}

async function shownIn(client: HttpClient, collection: Shown, id: number) {
  const { status, text } = await client.request(`${paths[collection]}/${id}`)
  if (status !== 200 && status !== 404) throw new Error(`${collection}/${id} is answered ${status} ${text}`)
  return status === 200 ? text : null
}

async function untilNothingIsFound(check: () => Promise<readonly Contradiction[]>): Promise<readonly Contradiction[]> {
  const deadline = performance.now() + publishedWithinMs
  for (;;) {
    const found = await check().catch((error) => [contradiction('what is published cannot be read', String(error))])
    if (found.length === 0 || performance.now() > deadline) return found
    await delay(500)
  }
}
