import { it } from 'vitest'
import { expectEmptySegmentsUnknown } from '../engine/http/empty-segments.ts'
import { storeServer } from './store-services.ts'

const server = storeServer()

it('a path of the store with an empty id, or with a slash behind it, is an unknown one', () =>
  expectEmptySegmentsUnknown(server))
