/** `npm run bench:feed`: what clients of the feed are told, and what that costs those who write. See README.md. */
import { Command } from 'commander'
import { until } from '../test/brokers/ready.ts'
import { runBenchmark } from './benchmark.ts'
import { startFollowers } from './load/followers.ts'
import type { LoadClient } from './load/load.ts'
import { spreadOf } from './rounds.ts'
import { count, type Options, say, withEmbedded, withRounds } from './run.ts'
import { caughtUp, post } from './scenarios.ts'
import type { RunningService } from './systems/service.ts'
import { asRatio, table } from './table.ts'

const command = new Command('npm run bench:feed --')
  .description('Events told to clients of the feed while pets are added, and what that costs: see bench/README.md.')
  .option('--followers <n>', 'clients of the feed', count, 100)
  .option('--connections <n>', 'connections of the client that adds pets', count, 16)
const options = withEmbedded(withRounds(command, 'without and with followers'))
  .parse()
  .opts<Options & { readonly followers: number; readonly connections: number }>()

const caughtUpMs = 120_000
const warmUpSeconds = 5

interface Cycle {
  /** Pets a second. */
  readonly without: number
  readonly withFollowers: number
  /** Events a second, of all followers together. */
  readonly told: number
  /** Milliseconds from the last answer until the last follower was told of the last pet. */
  readonly lateMs: number
}

await runBenchmark<{ readonly cycles: readonly Cycle[] }>(options, {
  async measure(_stack, { url, environment }: RunningService, client: LoadClient) {
    await cycle(url, environment, client, warmUpSeconds)
    const cycles: Cycle[] = []
    for (let round = 1; round <= options.rounds; round++) {
      cycles.push(await cycle(url, environment, client, options.seconds))
      say(JSON.stringify(cycles.at(-1)))
    }
    return [{ cycles }]
  },
  how: ({ name }) => {
    const { followers, connections, rounds, seconds } = options
    return `${followers} followers, ${connections} connections of ${name}, ${rounds} rounds of ${seconds} s`
  },
  table: ([measured]) => {
    const rows: readonly [name: string, digits: number, figure: (cycle: Cycle) => number][] = [
      ['pets/s without followers', 0, ({ without }) => without],
      ['pets/s with followers', 0, ({ withFollowers }) => withFollowers],
      ['with to without', 2, ({ without, withFollowers }) => withFollowers / without],
      ['events/s told', 0, ({ told }) => told],
      ['ms until the last was told', 0, ({ lateMs }) => lateMs],
    ]
    const spread = (figure: (cycle: Cycle) => number) => spreadOf(measured?.cycles.map(figure) ?? [])
    return table(
      [
        { title: '', cell: ([name]) => name },
        { title: 'median (min-max)', cell: ([, digits, figure]) => asRatio(spread(figure), digits) },
      ],
      rows,
    )
  },
  json: ({ cycles }) => ({ cycles }),
})

async function cycle(
  url: string,
  environment: RunningService['environment'],
  client: LoadClient,
  seconds: number,
): Promise<Cycle> {
  const run = () => client.run({ url, load: post, connections: options.connections, seconds })
  const without = await run()
  await caughtUp(url, environment)
  const followers = await startFollowers(url, options.followers)
  const start = performance.now()
  const { requestsPerSecond } = await run()
  const answeredAt = performance.now()
  // The client counts what was answered in its time; a few more were on their way.
  let told = await followers.told()
  await until('all were told of every pet', caughtUpMs, async () => {
    const before = told
    told = await followers.told()
    return told.all === before.all && told.fewest * options.followers === told.all
  })
  const end = performance.now()
  await followers.end()
  return {
    without: without.requestsPerSecond,
    withFollowers: requestsPerSecond,
    told: told.all / ((end - start) / 1000),
    lateMs: end - answeredAt,
  }
}
