import { recordedSqlite } from '../engine/read-models/recorded/recorded-sqlite.ts'
import { storesWhatWasRecorded } from '../engine/read-models/recorded/recorded-state.ts'
import { ofStore } from './recorded-sequences.ts'

storesWhatWasRecorded({ ...ofStore, adapter: recordedSqlite })
