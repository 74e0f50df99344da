import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { processState } from '../../bench/soak/process-state.ts'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { Client, type Pet } from './client.ts'
import { Load } from './load.ts'
import { startOwnBrokers, startService } from './service.ts'

const patience = { timeout: 60_000, interval: 100 }
const answerLimitMs = 6000
const growthLimitMiB = 150
// After an outage there is now and then one more, as seen over seven in a row, where it did not add up. One socket left by each
// client that was abandoned makes 40 more.
const reconnectedMore = 3

describeWithOwnBrokers('answers to POST are true', () => {
  async function startOnOwnBrokers(writers: number) {
    const { kafka, environment } = await startOwnBrokers()
    const service = await startService(environment)
    const client = new Client(service)
    const load = new Load([client], writers)
    async function expectTrue(): Promise<void> {
      await load.expectTrue(environment)
      expect(service.running()).toBe(true)
    }
    return { kafka, service, client, load, expectTrue }
  }

  it('although Kafka is killed with kill -9 during the writes and comes back', async () => {
    const { kafka, load, expectTrue } = await startOnOwnBrokers(32)
    await load.until(500)
    await kafka.kill()
    await load.until(200, 503)
    await kafka.start()
    await load.until(500)
    await expectTrue()
  })

  // The facts about processes are those of Linux.
  it.skipIf(process.platform !== 'linux')(
    'and come in time while Kafka stands still for long; nothing is hoarded meanwhile and nothing arrives late',
    async () => {
      const { kafka, service, client, load, expectTrue } = await startOnOwnBrokers(400)
      const port = Number(kafka.brokers.split(':')[1])
      await load.until(5000)
      const first = load.told.find(({ status }) => status === 201)?.body as Pet
      const before = { memory: processState(service.pid).memoryMiB, sockets: socketsTo(service.pid, port) }
      expect(before.sockets).toBeGreaterThan(0)
      await kafka.pause()
      await load.until(2000, 503) // 20 s: 400 writers wait for each answer about 4 s
      expect(processState(service.pid).memoryMiB - before.memory).toBeLessThan(growthLimitMiB)
      expect((await client.get(first.id)).status).toBe(200)
      await kafka.resume()
      await load.until(5000)
      await load.stop()
      expect(load.told.filter(({ sentMs, answeredMs }) => answeredMs - sentMs > answerLimitMs)).toEqual([])
      const most = before.sockets + reconnectedMore
      await vi.waitFor(() => expect(socketsTo(service.pid, port)).toBeLessThanOrEqual(most), patience)
      await expectTrue()
    },
  )
})

/** How many TCP sockets a process holds, in whatever state, whose other end is this port. */
function socketsTo(pid: number, port: number): number {
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
