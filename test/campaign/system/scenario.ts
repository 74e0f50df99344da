import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Environment } from '../../brokers/program.ts'
import type { ToldDocuments } from '../../judge/documents.ts'
import type { LogRecord } from '../../judge/history.ts'
import { type Fault, type Lane, lasting } from '../faults/fault.ts'
import { keyRevocation, type Operated, rebuild } from '../faults/operators.ts'
import { processFaults, rollingDeploy } from '../faults/process-faults.ts'
import { petstore, type Served } from '../served.ts'
import type { KafkaSide } from './kafka-side.ts'
import { empty, fill, mountSmall } from './small-disk.ts'
import { Supervised } from './supervised.ts'

/** Another one each time: two campaigns on one machine must not take each other's services for their own. */
export const apiKey = randomUUID()

/** Whom the faults of a scenario tell of what they do. */
export interface CampaignContext {
  wrong(what: string): void
  /** Records that were acknowledged are about to be lost: everything so far is compared with the log as it stands. */
  beforeLoss(): Promise<void>
  /** The loss is over. Resolves once the read models are those of the log again. */
  afterLoss(): Promise<void>
  /** Meanwhile no client writes, but for what is sent again and again under other faults. */
  whileOthersRead(work: () => Promise<void>): Promise<void>
}

/** A system that runs, and what can happen to it. */
export interface Scenario {
  readonly served: Served
  readonly apis: readonly Supervised[]
  readonly services: readonly Supervised[]
  /** Variables of the service, past all links. */
  readonly environment: Environment
  readonly partitions: number
  readonly lanes: readonly Lane[]
  readLog(): Promise<LogRecord[]>
  /** What is published, once there are no more faults. Undefined where nothing is. */
  readonly readPublished?: () => Promise<LogRecord[]>
  /** As `readPublished`, the topic of the documents of a collection. */
  readonly readDocuments?: (collection: ToldDocuments['collection']) => Promise<LogRecord[]>
}

export interface Setting {
  /** By default the pet store. */
  readonly served?: Served
  readonly folder: string
  readonly context: CampaignContext
  /** Further variables of the service. */
  readonly environment?: Environment
  /** Whether this machine lets a file system be mounted. Otherwise no disk gets full. */
  readonly canMount: boolean
  /** Where scenarios share one. */
  readonly kafka?: KafkaSide
}

/** Builds one. It ends with `stack`. */
export type StartScenario = (stack: AsyncDisposableStack, setting: Setting) => Promise<Scenario>

/** One process with everything in it, whose data is on a small disk. */
export const embedded: StartScenario = async (stack, setting) => {
  const { folder, context, canMount, environment: own, served = petstore } = setting
  const dataFolder = join(folder, 'data')
  if (canMount) await mountSmall(stack, dataFolder, 48)
  const environment = { ...own, DATA_DIR: dataFolder, API_KEYS: apiKey }
  const endsAfter = /is on a disk that is full/ // a start
  const service = await Supervised.start(stack, { name: 'service', served, environment, folder, canMount, endsAfter })
  const services = [service]
  return {
    served,
    apis: services,
    services,
    environment,
    partitions: 1,
    lanes: [
      processFaults(services),
      canMount ? [fullDisk(dataFolder)] : [],
      operatorLane({ served, environment, apis: services, services, ...context }),
    ],
    readLog: async () => readFile(join(dataFolder, 'event-log.db')),
  }
}

export function operatorLane(operated: Operated & Pick<Scenario, 'services'>): Lane {
  return [rebuild(operated), keyRevocation(operated), rollingDeploy(operated.services)]
}

/** Until there is room again. */
function fullDisk(folder: string): Fault {
  const disk = { wrong: () => fill(folder), right: () => empty(folder) }
  return lasting('disk of the embedded service is full', () => disk, { leastMs: 500, mostMs: 3000 })
}

function readFile(file: string): LogRecord[] {
  using database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare('SELECT "offset", key, value FROM records ORDER BY "offset"').all()
  const text = (bytes: unknown) => (bytes === null ? null : Buffer.from(bytes as Uint8Array).toString())
  return rows.map(({ offset, key, value }) => ({
    partition: 0,
    offset: Number(offset),
    key: text(key),
    value: text(value),
  }))
}
