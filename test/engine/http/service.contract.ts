import { describe } from 'vitest'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { commandsContract } from './contract/commands.ts'
import { contracted } from './contract/fixture.ts'
import { keyContract } from './contract/keys.ts'
import { readingContract } from './contract/reading.ts'
import { requestContract } from './contract/requests.ts'

/** What is true of every service over HTTP. What is special to one is for its own tests. */
export function serviceContract(definition: Definition): void {
  describe(`the HTTP contract of the ${definition.service.name}`, () => {
    const service = contracted(definition)
    readingContract(service)
    commandsContract(service)
    keyContract(service)
    requestContract(service)
  })
}
