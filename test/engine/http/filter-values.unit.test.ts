import { describe, expect, it } from 'vitest'
import { nextOf } from './contract/fixture.ts'
import { filteredSeats } from './filtered-seats.ts'
import { expectError } from './test-services.ts'

const { server, list, counts, store } = filteredSeats()
const least = -(2n ** 63n)
const greatest = 2n ** 63n - 1n

async function idsIn(query: string): Promise<number[]> {
  const answer = await list(query)
  expect([query, answer.statusCode]).toEqual([query, 200])
  return answer.json().map(({ id }: { id: number }) => id)
}

describe('an int64', () => {
  it('is found by its one spelling, up to both ends, and none under another', async () => {
    const values = [
      least,
      least + 1n,
      -10,
      -1,
      0,
      1,
      10,
      2 ** 53 - 1,
      2n ** 53n,
      2n ** 53n + 1n,
      greatest - 1n,
      greatest,
    ]
    for (const [i, rowId] of values.entries()) store(i + 1, { rowId })
    for (const [i, rowId] of values.entries()) expect(await idsIn(`rowId=${rowId}`)).toEqual([i + 1])
  })

  it.each([
    ...['9223372036854775808', '-9223372036854775809', '1'.repeat(200), '1.0', '1e0', '%2B1', '+1', '007', '-0', '-07'],
    ...['%201', '1%20', ' 1', '', '0x1', '1%00', 'null', '1,2', '%D9%A1'],
  ])('written as %j is 400, in a list and in a count', async (text) => {
    const message = 'query: rowId must be an integer from -9223372036854775808 to 9223372036854775807'
    for (const answer of [await list(`rowId=${text}`), await counts(`?rowId=${text}`)])
      expectError(answer, 400, 'invalid_request', message)
  })
})

it('an int64 that the service bounds is found within its bounds, and 400 beyond them', async () => {
  for (const [id, place] of [1, 2 ** 53 - 1].entries()) store(id + 1, { place })
  for (const [id, place] of [1, 2 ** 53 - 1].entries()) expect(await idsIn(`place=${place}`)).toEqual([id + 1])
  for (const place of [0, -1, 2n ** 53n, greatest])
    expectError(await list(`place=${place}`), 400, 'invalid_request', 'query: place must be')
})

describe('a text', () => {
  const longest = '\u{1F436}'.repeat(128)
  const texts = [
    'a',
    'ab',
    'a b',
    'A',
    '7',
    '07',
    '7 ',
    ' ',
    '1:a',
    'é',
    'e\u0301',
    'a&b=c',
    '%61',
    '+',
    '"',
    '\n',
    longest,
  ]

  it('is found as it is, and none that begins like it', async () => {
    for (const [i, note] of texts.entries()) store(i + 1, { note, status: 'cat' })
    for (const [i, note] of texts.entries())
      for (const more of ['', '&status=cat'])
        expect(await idsIn(`note=${encodeURIComponent(note)}${more}`)).toEqual([i + 1])
  })

  it('of any form leads to its next page', async () => {
    for (const note of texts) {
      server.services.reset()
      for (const id of [1, 2, 3]) store(id, { note })
      const pages: object[] = []
      for (let url: string | undefined = `/v1/seats?limit=2&note=${encodeURIComponent(note)}`; url !== undefined; ) {
        const page: Awaited<ReturnType<typeof list>> = await server.get(url)
        pages.push(page.json())
        url = nextOf(page)
        if (url !== undefined) expect(/cursor=([\w-]+)$/.exec(url)?.[1]?.length).toBeLessThan(512)
      }
      expect(pages).toEqual([[{ id: 1 }, { id: 2 }], [{ id: 3 }]])
    }
  })

  it.each([
    ['', 'must have at least one character'],
    ['a'.repeat(129), 'must have at most 128 characters'],
    [encodeURIComponent(`${longest}a`), 'must have at most 128 characters'],
    ['%00', 'must be 1 to 128 characters, without NUL'],
    ['a%00b', 'must be 1 to 128 characters, without NUL'],
  ])('%.30j is 400', async (text, message) => {
    expectError(await list(`note=${text}`), 400, 'invalid_request', `query: note ${message}`)
    expectError(await counts(`?note=${text}`), 400, 'invalid_request', `query: note ${message}`)
  })

  it.each(['%ff', 'a%c3', '%ED%A0%80', '%C0%80', '%', '%zz', '%4', 'x&%ff=1'])(
    'that is not UTF-8, percent-encoded, is 400 and not taken for another: %s',
    async (text) => {
      store(1, { note: text })
      expectError(await list(`note=${text}`), 400, 'invalid_request', 'The URL is malformed.')
    },
  )
})

it('a filter that is given twice is 400', async () => {
  for (const query of ['rowId=7&rowId=7', 'note=a&note=b', 'status=cat&status=cat']) {
    const [name] = query.split('=')
    expectError(await list(query), 400, 'invalid_request', `query: ${name} is given more than once`)
  }
  expectError(await counts('?rowId=7&rowId=8'), 400, 'invalid_request', 'query: rowId is given more than once')
})
