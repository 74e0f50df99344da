import { Random } from '../../test/lib/random.ts'
import type { Load } from '../load/load.ts'
import { fill, get, post, postWithoutWait } from '../scenarios.ts'
import type { Server } from '../systems/child.ts'
import { type Environment, startProcess } from '../systems/service.ts'
import type { FormName, LoadName } from './report.ts'

/** Processes that are one service, on a log and read models of its own. */
export interface Form {
  readonly environment: Environment
  /** Those that answer; the only one is in it twice, so that the client always has two threads. */
  readonly urls: readonly [string, string]
  readonly answering: readonly Server[]
  readonly projecting: readonly Server[]
  readonly loads: Readonly<Record<LoadName, Load>>
}

const petsToRead = 1000
/** For each POST of the mixed load. */
const getsPerPost = 9

const roles: Readonly<Record<FormName, readonly [answering: readonly string[], projecting: readonly string[]]>> = {
  'one process': [['all'], []],
  'api + projector': [['api'], ['projector']],
  '2 apis + projector': [['api', 'api'], ['projector']],
}

export async function startForm(stack: AsyncDisposableStack, environment: Environment, name: FormName): Promise<Form> {
  const topic = `${environment.KAFKA_TOPIC}-${name.replaceAll(/\W+/g, '-')}`
  const own = { ...environment, KAFKA_TOPIC: topic, REDIS_PREFIX: topic }
  const start = (ROLE: string) => startProcess(stack, { ...own, ROLE })
  const [answeringRoles, projectingRoles] = roles[name]
  const projecting = await Promise.all(projectingRoles.map(start))
  const answering = await Promise.all(answeringRoles.map(start))
  const [first = '', second = first] = answering.map(({ url }) => url)
  const { petPaths } = await fill(first, petsToRead)
  return { environment: own, urls: [first, second], answering, projecting, loads: loadsOf(petPaths) }
}

function loadsOf(petPaths: readonly string[]): Form['loads'] {
  const paths = new Random(petPaths.length).shuffle(petPaths)
  const isPost = (index: number) => index % (getsPerPost + 1) === getsPerPost
  const mixed: Load = {
    method: 'POST',
    paths: paths.map((path, index) => (isPost(index) ? (post.paths[0] ?? '') : path)),
    bodies: paths.map((_, index) => (isPost(index) ? (post.body ?? '') : '')),
  }
  return { 'POST, durable': postWithoutWait, POST: post, 'GET by id': get(paths), mixed }
}
