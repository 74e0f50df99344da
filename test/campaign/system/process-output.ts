import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { empty, fill, mountSmall } from './small-disk.ts'

/** Enough for the requests of ten minutes. */
const logDiskMebibytes = 128

export interface OutputOptions {
  readonly name: string
  readonly folder: string
  /** Whether the log is to have a disk of its own, which can be filled. */
  readonly canMount: boolean
}

/** What a process and those that take its place write: a log, and what is said on standard error. */
export class ProcessOutput {
  readonly #log: string
  readonly #errors: string
  readonly #disk: string | undefined
  /** How much was written before this process. */
  #before: readonly number[] = []
  #isFull = false
  #wasFull = false

  private constructor({ name, folder, canMount }: OutputOptions) {
    const logFolder = logFolderOf({ name, folder })
    this.#log = join(logFolder, 'log')
    this.#errors = join(folder, `${name}.errors`)
    this.#disk = canMount ? logFolder : undefined
  }

  static async make(stack: AsyncDisposableStack, options: OutputOptions): Promise<ProcessOutput> {
    if (options.canMount) await mountSmall(stack, logFolderOf(options), logDiskMebibytes)
    else mkdirSync(logFolderOf(options))
    const output = new ProcessOutput(options)
    stack.defer(() => output.#keep(options))
    return output
  }

  get hasDisk(): boolean {
    return this.#disk !== undefined
  }

  /** Whether something that this process wrote may be missing. */
  get wasFull(): boolean {
    return this.#wasFull
  }

  /** What this process wrote. */
  get text(): string {
    return this.#files.map((file, index) => readFileSync(file).subarray(this.#before[index]).toString()).join('')
  }

  /** For standard output and standard error of the next process. */
  open(): [number, number] {
    const opened: [number, number] = [openSync(this.#log, 'a'), openSync(this.#errors, 'a')]
    this.#before = this.#files.map((file) => statSync(file).size)
    this.#wasFull = this.#isFull
    return opened
  }

  async fillDisk(): Promise<void> {
    if (this.#disk === undefined) throw new Error(`${this.#log} is on no disk of its own`)
    await fill(this.#disk)
    ;[this.#isFull, this.#wasFull] = [true, true]
  }

  emptyDisk(): void {
    if (this.#disk !== undefined) empty(this.#disk)
    this.#isFull = false
  }

  /** For those who want to know what went wrong, when the disk of the log is gone. */
  #keep({ name, folder }: OutputOptions): void {
    if (this.hasDisk && existsSync(this.#log)) copyFileSync(this.#log, join(folder, `${name}.log`))
  }

  get #files(): [string, string] {
    return [this.#log, this.#errors]
  }
}

function logFolderOf({ name, folder }: Pick<OutputOptions, 'name' | 'folder'>): string {
  return join(folder, `${name}-log`)
}
