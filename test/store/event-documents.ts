import { asyncApiDocument } from '../../src/engine/definition/asyncapi.ts'
import { withoutRules } from '../../src/engine/definition/event-schemas.ts'
import { eventSchemas, petstore } from './petstore.ts'

const json = (document: object) => `${JSON.stringify(document, undefined, 2)}\n`
const $schema = 'https://json-schema.org/draft/2020-12/schema'

/**
 * The files under docs/ that are made from the schemas of events, and their text. The examples in docs/events are not
 * among them: they are what was written once, and stay as they are.
 */
export const eventDocuments: ReadonlyMap<string, string> = new Map([
  ['asyncapi.json', json(asyncApiDocument(petstore, 'petstore.pets'))],
  ...Object.entries(eventSchemas).map(
    ([type, schema]) => [`events/${type}.schema.json`, json({ $schema, ...withoutRules(schema) })] as const,
  ),
])
