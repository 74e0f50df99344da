/** The second door of the engine, for the tests of a service. No test framework is needed: a check throws. */
import '../node-version.cjs'

export { type Decided, type Given, given } from './given.ts'
export { type Answer, type Asked, type InMemory, openInMemory } from './in-memory.ts'
export { type Started, startForTest } from './started.ts'
