import { join } from 'node:path'
import { library } from '../../examples/loans/library.ts'
import { define } from '../../src/engine/definition/definition.ts'
import { recordedSqlite } from '../engine/read-models/recorded/recorded-sqlite.ts'
import { storesWhatWasRecorded } from '../engine/read-models/recorded/recorded-state.ts'

storesWhatWasRecorded({
  definition: define(library.service),
  adapter: recordedSqlite,
  folder: join(import.meta.dirname, 'recorded/library'),
})
