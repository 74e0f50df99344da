import { execFile } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newFolder } from './new-folder.ts'

/** The linker puts the folder of the architecture for `$LIB`, and ignores a path that leads nowhere. MT: for several threads. */
const library = '/usr/$LIB/faketime/libfaketimeMT.so.1'

const hourMs = 3_600_000

/** The time of day of a process, which a file sets while it runs. Monotonic time is left alone. */
export class Clock {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
    this.set(0)
  }

  /** For the process. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '0', // it looks at the file once a second
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Hours before or behind the true time. */
  set(hours: number): void {
    const written = `${this.#file}.new` // nobody ever reads half of it
    writeFileSync(written, `${hours >= 0 ? '+' : ''}${hours}h\n`)
    renameSync(written, this.#file)
  }
}

/** Throws unless the time of day of a process can be set, and nothing else of its time. */
export async function expectClocks(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const clock = new Clock(join(newFolder(stack), 'proof.clock'))
  clock.set(5)
  const script = 'process.stdout.write(JSON.stringify([Date.now(), Number(process.hrtime.bigint() / 1_000_000n)]))'
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: clock.environment })
  const [time, monotonic] = JSON.parse(stdout)
  const ahead = (time - Date.now()) / hourMs
  const monotonicAhead = (monotonic - Number(process.hrtime.bigint() / 1_000_000n)) / hourMs
  if (Math.abs(ahead - 5) < 0.1 && Math.abs(monotonicAhead) < 0.1) return
  const told = `set 5 h ahead it is ${ahead.toFixed(1)} h ahead, and monotonic time ${monotonicAhead.toFixed(1)} h`
  throw new Error(`The clock of a process cannot be set: ${told}. Install libfaketime.`)
}

/** The library leaves two files of each process that was killed. */
export function removeLeftoversOfClocks(): void {
  for (const name of existsSync('/dev/shm') ? readdirSync('/dev/shm') : []) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join('/dev/shm', name), { force: true })
  }
}
