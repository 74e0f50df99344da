import Fastify from 'fastify'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { compileRequestCheck } from '../../../src/engine/http/values/request-values.ts'

it('a check of headers leaves them as they are: a copy would be made each time that one is read', async () => {
  const app = Fastify().setValidatorCompiler(compileRequestCheck)
  const schema = { headers: Type.Object({ prefer: Type.Optional(Type.String()) }) }
  app.get('/', { schema }, (request) => ({ areThose: request.headers === request.raw.headers }))
  const answer = await app.inject({ url: '/', headers: { prefer: 'wait=0' } })
  expect(answer.json()).toEqual({ areThose: true })
})

it('a value is changed in its place', async () => {
  const app = Fastify().setValidatorCompiler(compileRequestCheck)
  const Id = Type.Unsafe<number | bigint>({ type: 'integer', format: 'int64' })
  app.get('/:id', { schema: { params: Type.Object({ id: Id }) } }, ({ params }) => {
    const { id } = params as { readonly id: number | bigint }
    return { type: typeof id, id: String(id) }
  })
  const typesOf = async (id: string) => (await app.inject(`/${id}`)).json()
  expect(await typesOf('7')).toEqual({ type: 'number', id: '7' })
  expect(await typesOf('-9007199254740991')).toEqual({ type: 'number', id: '-9007199254740991' })
  expect(await typesOf('9007199254740992')).toEqual({ type: 'bigint', id: '9007199254740992' })
})
