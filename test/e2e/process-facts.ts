import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** What Linux tells of a running process in /proc. */

/** Its memory that is in RAM now, in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

/** How many TCP sockets it holds, in whatever state, whose other end is this port. */
export function socketsTo(pid: number, port: number): number {
  const held = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketInode(`/proc/${pid}/fd/${fd}`)))
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote, , , , , , , inode]) => portOf(remote) === port && held.has(inode)).length
}

function socketInode(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1]
  } catch {
    return undefined // closed since it was listed
  }
}

/** The port of an address as the kernel writes it: hexadecimal, behind the last colon. */
function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':').at(-1) ?? '', 16)
}
