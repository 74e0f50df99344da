import { readdirSync, readFileSync } from 'node:fs'

/** Microseconds of CPU that the threads of a process have taken so far: as Linux counts them, without asking the process. */
export function cpuTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) => {
    const [running] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return Number(running)
  })
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000
}
