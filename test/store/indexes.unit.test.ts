import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { HttpClient } from '../lib/http-client.ts'
import { startHere } from '../lib/start-here.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { petstore } from './petstore.ts'
import { runHere } from './run-here.ts'

it('an entry of an index in the place of another is named by verify, and healed by a rebuild', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const client = new HttpClient(await startHere(petstore, environment))
  const ids: number[] = []
  for (const name of ['Rex', 'Mia']) {
    const { body } = await client.send('POST', '/v1/pets', { name, categoryId: 7 }, { prefer: 'wait=10' })
    ids.push((body as { id: number }).id)
  }
  const [rex = 0] = ids
  const inCategory = async () => {
    const { body } = await client.request('/v1/pets?categoryId=7')
    return (body as { id: number }[]).map(({ id }) => id).sort()
  }
  expect(await inCategory()).toEqual(ids.toSorted())
  expect(JSON.parse((await runHere(environment, 'stats --json')).output)).toMatchObject({
    pets: { total: 2, available: 2, indexes: { categoryId: 2 } },
  })

  const db = new DatabaseSync(`${environment.DATA_DIR}/read-models.db`)
  const set = 'pets:categoryId='
  const table = db.prepare('SELECT key FROM collection WHERE name = ?').get(set)
  db.exec(`UPDATE collection_${table?.key} SET key = '1:8available ' WHERE id = ${rex}`)
  db.close()
  const json = `{"id":${rex},"name":"Rex","categoryId":7,"status":"available"}`
  const id = String(rex).padStart(16, '0')
  const { code, output } = await runHere(environment, 'verify')
  expect(code).toBe(1)
  expect(output).toContain(`${set} 1:8available ${id}\n  expected  nothing\n  found     ${json}\n`)
  expect(output).toContain(`${set} 1:7available ${id}\n  expected  ${json}\n  found     nothing\n`)
  expect(output).toMatch(/compared, 2 not as the log says\.\n$/)

  expect((await runHere(environment, 'verify --repair')).output).toContain('Rebuilt')
  expect((await runHere(environment, 'verify')).code).toBe(0)
  expect(await inCategory()).toEqual(ids.toSorted())
})

it('requests for an index and for counts are told by their route, and no label has a value', async () => {
  const service = await startHere(petstore)
  const client = new HttpClient(service)
  for (const query of ['categoryId=12345', 'status=sold', 'categoryId=12346&status=sold']) {
    expect((await client.request(`/v1/pets?${query}`)).status).toBe(200)
    expect((await client.request(`/v1/store/inventory?${query.split('&')[0]}`)).status).toBe(
      query.startsWith('c') ? 200 : 400,
    )
  }
  const counted = 'petstore_http_requests_total{route='
  const shown = async () => (await client.request('/metrics')).text
  await expect.poll(shown).toContain(`${counted}"/v1/store/inventory",method="GET",status="400"} 1\n`)
  const text = await shown()
  expect(text).toContain(`${counted}"/v1/store/inventory",method="GET",status="200"} 2\n`)
  expect(text).toContain(`${counted}"/v1/pets",method="GET",status="200"} 3\n`)
  expect(text).not.toMatch(/1234[56]|sold|categoryId/)
})
