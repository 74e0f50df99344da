import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { checkDefinition } from '../../src/engine/definition/check.ts'
import { petstore } from './petstore.ts'

it('the store is defined well', () => {
  expect(() => checkDefinition(petstore)).not.toThrow()
})

/*
 * If it does not change with what the projections show, two releases fill one set of read models with different documents. It
 * is written here once more, so that nobody changes it without a look at the changelog, which names it.
 */
it('the version of the read models is the one that the changelog names', () => {
  expect(petstore.version).toBe('pets-8.orders-3.categories-1.layout-2.indexes-6b29dde9')
  expect(readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')).toContain(`\`${petstore.version}\``)
})
