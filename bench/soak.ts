/** `npm run bench:soak`: nothing fails under hours of load, and memory and descriptors stay flat. See README.md. */
import { Command, Option } from 'commander'
import { count, runToEnd, say } from './run.ts'
import { forms } from './soak/form.ts'
import { MixedLoad } from './soak/load.ts'
import { failedIn, soakReport, writeSoakCharts } from './soak/report.ts'
import { calibrate, watch } from './soak/watch.ts'

const clients = 32
const calibrationSeconds = 20
const inFlightMax = 256

interface Options {
  readonly form: keyof typeof forms
  readonly minutes: number
  readonly rate?: number
  readonly charts?: string
}

const options = new Command('npm run bench:soak --')
  .description('Keeps one form of the service at half load for long: see bench/README.md.')
  .addOption(new Option('--form <form>', 'form of the service').choices(Object.keys(forms)).default('embedded'))
  .option('--minutes <n>', 'length of the run', count, 60)
  .option('--rate <n>', 'requests per second; by default half of what 32 clients get answered', count)
  .option('--charts <folder>', 'folder for charts of memory and descriptors')
  .parse()
  .opts<Options>()

await runToEnd(async (stack) => {
  const form = await forms[options.form](stack)
  const load = new MixedLoad(form.url, inFlightMax)
  const rate = options.rate ?? (await halfOfFullLoad(load))
  say(`${form.title}: ${options.minutes} minutes at ${rate.toFixed(0)} requests/s`)
  const watched = await watch(form, load, rate, options.minutes)
  process.stdout.write(soakReport(watched, await form.eventBytes()))
  if (options.charts !== undefined) writeSoakCharts(options.charts, options.form, watched)
  const failed = failedIn(watched.samples)
  if (failed > 0) throw new Error(`${failed} requests failed`)
})

async function halfOfFullLoad(load: MixedLoad): Promise<number> {
  const full = await calibrate(load, clients, calibrationSeconds)
  say(`${full.toFixed(0)} requests/s at full load`)
  return full / 2
}
