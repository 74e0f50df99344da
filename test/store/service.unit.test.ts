import { expect, it } from 'vitest'
import { checkDefinition } from '../../src/engine/definition/check.ts'
import { petstore } from './petstore.ts'

it('the store is defined well', () => {
  expect(() => checkDefinition(petstore)).not.toThrow()
})
