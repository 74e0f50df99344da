import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { startService } from './service.ts'

const run = promisify(execFile)

/** The shell blocks under a heading, in the order in which a reader pastes them. */
function commandsUnder(heading: string): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const section = readme.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands]) => commands).join('\n')
}

describe('the README', () => {
  it('has a tour that works when pasted', async () => {
    const DATA_DIR = temporaryFolder()
    const { url } = await startService({ DATA_DIR })
    const script = commandsUnder('A tour with curl')
    const elsewhere = script.replaceAll('http://127.0.0.1:3000', url).replaceAll('/tmp/', `${DATA_DIR}/`)
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', elsewhere], { env: { PATH, DATA_DIR } })
    expect(stdout).toContain('HTTP/1.1 201 Created')
    const [tour = '', feed = ''] = stdout.split(/^retry: 2000$/m)
    expect(tour.match(/"name":"Rex"/g)).toHaveLength(7) // added, read, in its category, twice, in the list of all, in that of the sold ones, its event
    expect(stdout).toMatch(/link: <\/v1\/pets\?limit=2&status=sold&cursor=\S+>; rel="next"/)
    expect(stdout).toMatch(/\[\{[^\]]*"name":"Ada"[^\]]*"name":"Bo"[^\]]*\}\]/)
    expect(tour.match(/"name":"Dot"/g)).toHaveLength(3) // twice as an answer, once in the list of all
    expect(stdout.match(/idempotency-replayed: true/g)).toHaveLength(1)
    expect(stdout).toMatch(/\[\{.*"name":"Eve".*\}\]/)
    expect(stdout).toMatch(/^\{"id":\d+,"name":"Dogs","description":"They like walks"\}$/m)
    const [placed, approved, delivered, sold, orders, changed, removed, found, history] = tour
      .trimEnd()
      .split('\n')
      .slice(-9)
    expect(placed).toMatch(/^\{"id":\d+,"petId":\d+,"status":"placed",/)
    expect(approved).toContain('"status":"approved"')
    expect(delivered).toContain('"status":"delivered"')
    expect(sold).toMatch(/^\[.*"name":"Rex","categoryId":7,"status":"sold"\}/)
    expect(orders).toMatch(/^\[\{"id":\d+,"petId":\d+,"status":"delivered",[^[]*\}\]$/)
    expect(tour).toMatch(/^\{"available":1,"pending":0,"sold":3\}$/m)
    expect(changed).toMatch(/"name":"King Rex","categoryId":7,"status":"sold"\}$/)
    expect(removed?.trim()).toBe('HTTP/1.1 204 No Content')
    expect(JSON.parse(found ?? '')).not.toContainEqual(expect.objectContaining({ name: 'King Rex' }))
    const life = ['PetCreated', 'OrderPlaced', 'OrderApproved', 'OrderDelivered', 'PetChanged', 'PetRemoved']
    const types = JSON.parse(history ?? '').map(({ type }: { type: string }) => type.split('.')[1])
    expect(types).toEqual(life)
    expect(feed.match(/^event: petstore\.PetCreated\.v1$/gm)).toHaveLength(6)
    expect(feed).toMatch(/^id: \S+\nevent: petstore\.PetRemoved\.v1\ndata: \{.*\}$/m)
    expect(stdout).not.toMatch(/"status":[45]\d\d/)
  })
})
