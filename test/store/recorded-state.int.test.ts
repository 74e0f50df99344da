import { describeWithBrokers } from '../brokers/describe.ts'
import { recordedRedis } from '../engine/read-models/recorded/recorded-redis.ts'
import { storesWhatWasRecorded } from '../engine/read-models/recorded/recorded-state.ts'
import { ofStore } from './recorded-sequences.ts'

describeWithBrokers('in Redis', ({ redisUrl }) =>
  storesWhatWasRecorded({ ...ofStore, adapter: recordedRedis(redisUrl) }),
)
