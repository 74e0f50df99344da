import { readdirSync, readFileSync } from 'node:fs'

/** What Linux says of a process. */
export interface ProcessState {
  readonly memoryMiB: number
  readonly descriptors: number
}

export function processState(pid: number): ProcessState {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
  return { memoryMiB: kibibytes / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}
