/** The second door of the engine, for the tests of a service. No test framework is needed: a check throws. */
export { type Decided, type Given, given } from './given.ts'
