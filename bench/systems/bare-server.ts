/**
 * The reference for what HTTP itself costs: it answers every request with one string. Run as
 * `node bench/systems/bare-server.ts METHOD PAYLOAD`.
 */

import { NewPetSchema } from '../../src/domain/pet.ts'
import { jsonType } from '../../src/http/error-replies.ts'
import { serve } from './reference-app.ts'

const [, , method, payload = ''] = process.argv

await serve((v1) => {
  if (method === 'POST') {
    v1.post('/pets', { schema: { body: NewPetSchema } }, (_request, reply) => {
      reply.code(201).type(jsonType).send(payload)
    })
  } else {
    for (const path of ['/pets', '/pets/:petId']) {
      v1.get(path, (_request, reply) => {
        reply.type(jsonType).send(payload)
      })
    }
  }
})
