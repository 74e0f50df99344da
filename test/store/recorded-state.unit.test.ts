import { recordedSqlite } from '../engine/read-models/recorded/recorded-sqlite.ts'
import { storesWhatWasRecorded } from '../engine/read-models/recorded/recorded-state.ts'
import { ofPets } from './recorded-sequences.ts'

storesWhatWasRecorded({ ...ofPets, adapter: recordedSqlite })
