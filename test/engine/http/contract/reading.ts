import { describe, expect, it } from 'vitest'
import { writeCursor } from '../../../../src/engine/http/values/tokens.ts'
import { expectError } from '../test-services.ts'
import { type Contracted, nextOf, type Shown } from './fixture.ts'

const notInt64 = 'must be an integer from -9223372036854775808 to 9223372036854775807'
const noInts = ['99999999999999999999', 'abc', '1.0', '1e1', '0x10', '010', '%2B5', '+5', '']
const noIds = ['abc', '1.0', '1e3', '0x1', '+1', '%2B1', '01', '-0', '%20', '1%20', 'null', '1%00']
const tooLarge = [
  '9223372036854775808',
  '-9223372036854775809',
  ...[20, 200, 10_000].map((digits) => '1'.repeat(digits)),
]
const ofNone = ['-1', '0', '1', '9223372036854775807', '-9223372036854775808', '9007199254740993']

export function readingContract({ server, resources, get, send, changing, givenAll, eventsOf }: Contracted): void {
  const { services } = server
  const expectInvalid = async (url: string, message: string, code = 'invalid_request') =>
    expectError(await get(url), 400, code, message)
  /** Documents 1 to `count`, all with the first value of the filter, if there is one. */
  function store({ collection, filter, values: [value = ''] }: Shown, count: number): void {
    for (let id = 1; id <= count; id++)
      services.store({
        collection,
        id,
        json: `{"id":${id}, "is" : 1e2,}`,
        indexKeys: filter ? [`${filter}:${value}`] : [],
      })
  }

  describe.each(resources)('GET $list', (resource) => {
    const { list, filter, values } = resource
    const [value = '', otherValue = ''] = values
    const ofValue = filter && `${filter}=${value}&`
    const ofOther = filter && `${filter}=${otherValue}&`

    it('gives 20 documents as they are stored and the link to more, which keeps limit and filter', async () => {
      store(resource, 21)
      const first = await get(list)
      expect(first.body).toBe(`[${Array.from({ length: 20 }, (_, i) => `{"id":${i + 1}, "is" : 1e2,}`)}]`)
      expect(first.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        link: expect.stringMatching(/\?limit=20&cursor=[\w-]+>; rel="next"$/),
        'cache-control': 'no-store',
      })
      for (const header of ['deprecation', 'etag']) expect(first.headers).not.toHaveProperty(header)
      const last = await get(nextOf(first) ?? '')
      expect([last.body, nextOf(last)]).toEqual(['[{"id":21, "is" : 1e2,}]', undefined])
      const next = nextOf(await get(`${list}?${ofValue}limit=2`)) ?? ''
      expect(next.startsWith(`${list}?limit=2&${ofValue}cursor=`)).toBe(true)
      expect((await get(next)).body).toBe('[{"id":3, "is" : 1e2,},{"id":4, "is" : 1e2,}]')
      const cursors = [nextOf(first), next].map((url) => /&(cursor=.*)/.exec(url ?? '')?.[1])
      const others = resources.map((each) => `${each.list}?`).filter((each) => each !== `${list}?`)
      for (const other of filter ? [`${list}?${ofOther}`, ...others] : others)
        for (const cursor of cursors) await expectInvalid(other + cursor, 'another list', 'invalid_cursor')
      if (filter === '') return
      expect((await get(`${list}?${ofOther}limit=20`)).body).toBe('[]')
      await expectInvalid(`${list}?${cursors[1]}`, 'another list', 'invalid_cursor')
    })

    const badValues: [message: string, queries: readonly string[]][] = [
      [
        `${filter} must be one of ${values.join(', ')}`,
        ['none', '', value.toUpperCase()].map((text) => `${filter}=${text}`),
      ],
      [`${filter} is given more than once`, [`${filter}=${value}&${filter}=${value}`]],
    ]
    it.each<[message: string, queries: readonly string[]]>([
      ...(filter ? badValues : []),
      ['limit must be at least 1', ['limit=0', 'limit=-1']],
      ['limit must be at most 100', ['limit=101', 'limit=9223372036854775807']],
      ['limit must be integer', ['limit', ...noInts.map((text) => `limit=${text}`)]],
      ['limit is given more than once', ['limit=1&limit=2', 'limit=1&limit=1']],
      ['cursor is given more than once', ['cursor=a&cursor=b']],
      ['"colour" is not allowed here', ['colour=red']],
      ['"offset" is not allowed here; "page" is not allowed here', ['offset=1&page=2']],
      ['"__proto__" is not allowed here', ['__proto__=1']],
      ['"limit[]" is not allowed here', ['limit[]=1']],
      ['id.0 must be an integer', ['', 'x', '1.5', '01', '9223372036854775808'].map((text) => `id=${text}`)],
      ['id.1 must be an integer', ['id=1,']],
      ['id is given more than once', ['id=1&id=2']],
      ['id must have at most 100 items', [`id=${Array(101).fill(1)}`]],
      ['id and limit cannot be used together', ['id=1&limit=5']],
      ['id and cursor cannot be used together', ['id=1&cursor=abc']],
    ])('with a bad query is 400: %s', async (message, queries) => {
      for (const query of queries) await expectInvalid(`${list}?${query}`, `query: ${message}`)
    })

    it.each(['limit=%zz', 'limit=1&%ff=1', 'cursor=%c3', '%'])('with the query %s is 400', (query) =>
      expectInvalid(`${list}?${query}`, 'The URL is malformed.'),
    )

    it('has the documents of a list of ids, also of one value of its filter, and no link', async () => {
      store(resource, 3)
      const listed = await get(`${list}?${ofValue}id=3,1,7,3,0,-1,9223372036854775807`)
      expect(listed.body).toBe('[{"id":1, "is" : 1e2,},{"id":3, "is" : 1e2,}]')
      expect(listed.headers).not.toHaveProperty('link')
      if (filter) expect((await get(`${list}?${ofOther}id=3`)).body).toBe('[]')
    })

    it.each(['', 'abc', '%00'])('with the cursor %j is 400', (cursor) =>
      expectInvalid(`${list}?cursor=${cursor}`, 'query: cursor', 'invalid_cursor'),
    )
  })

  describe.each(resources)('GET $list/{id}', ({ list, one, idName, noun, notFound, collection }) => {
    it('of what is no id is 400', async () => {
      for (const id of [...noIds, ...tooLarge]) await expectInvalid(`${list}/${id}`, `path: ${idName} ${notInt64}`)
      for (const id of ['%zz', '%', '%ff']) await expectInvalid(`${list}/${id}`, 'The URL is malformed.')
      await expectInvalid(`${list}/${'1'.repeat(20_000)}`, 'The path is too long.')
      for (const query of ['limit=1', 'x']) await expectInvalid(`${one}?${query}`, 'is not allowed here')
    })

    it('of an int64 of none is 404', async () => {
      for (const id of ofNone) expectError(await get(`${list}/${id}`), 404, notFound, `There is no ${noun} ${id}.`)
    })

    it('gives the document as it is stored, and never that of the rounded id', async () => {
      const json = '{"id":9007199254740991, "is" : 1e2,}'
      for (const id of [Number.MAX_SAFE_INTEGER, 2 ** 53]) services.store({ collection, id, json, indexKeys: [] })
      expect((await get(`${list}/9007199254740991`)).body).toBe(json)
      for (const id of ['9007199254740992', '9007199254740993']) expectError(await get(`${list}/${id}`), 404, notFound)
    })
  })

  it.each(resources)('GET $one says on every response when it is deprecated', async (resource) => {
    const { list, one, find } = resource
    await givenAll()
    const responses = {
      200: await get(one),
      304: await get(one, { 'if-none-match': '*' }),
      400: await get(`${list}/x`),
      401: await server.app.inject(one),
      404: await get(`${list}/99`),
    }
    services.beforeRead = () => Promise.reject(new Error('a bug'))
    for (const [status, { statusCode, headers }] of Object.entries({ ...responses, 500: await get(one) })) {
      expect(String(statusCode)).toBe(status)
      const { deprecated, sunset } = find
      const dates = [deprecated && `@${Date.parse(deprecated) / 1000}`, sunset && new Date(sunset).toUTCString()]
      expect([headers.deprecation, headers.sunset]).toEqual(dates)
      const notice = `<${list}>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"`
      expect(String(headers.link).startsWith(notice)).toBe(deprecated !== undefined)
    }
  })

  describe.each(resources.filter(({ history }) => history !== undefined))('GET $history', (resource) => {
    const { history = '', list, notFound } = resource

    it('gives the events that took effect, oldest first, page by page', async () => {
      await givenAll()
      for (const command of changing) await send(command)
      const told: string[] = []
      for (let url: string | undefined = `${history}?limit=1`; url !== undefined; ) {
        const page: Awaited<ReturnType<typeof get>> = await get(url)
        expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
        expect(page.json()).toHaveLength(1)
        told.push(page.json()[0].type.split('.')[1])
        url = nextOf(page)
        if (url !== undefined) expect(url.startsWith(`${history}?limit=1&cursor=`)).toBe(true)
      }
      expect(told).toEqual(eventsOf(resource))
      expect(told.length).toBeGreaterThan(1)
      for (const list of ['versions:2', 'events:1', undefined])
        await expectInvalid(`${history}?cursor=${writeCursor(1, list)}`, '', 'invalid_cursor')
      for (const query of ['limit=0', 'limit=101', 'status=x']) await expectInvalid(`${history}?${query}`, 'query: ')
    })

    it('is 404 for none, and 400 for what is no id', async () => {
      for (const id of ['99', '9223372036854775807']) expectError(await get(`${list}/${id}/events`), 404, notFound)
      await expectInvalid(`${list}/x/events`, 'path: ')
    })
  })
}
