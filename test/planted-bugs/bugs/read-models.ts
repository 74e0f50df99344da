import type { PlantedBug } from '../bug.ts'

const proven = 'src/engine/read-models/proven-read-model.ts'
const provenTests = 'test/engine/read-models/proven-read-model.unit.test.ts'
const setbacks = 'test/engine/read-models/proven-setbacks.unit.test.ts'
const positions = 'src/engine/read-models/applied-positions.ts'
const positionTests = 'test/engine/read-models/applied-positions.unit.test.ts'

const recordedState = 'test/store/recorded-state.unit.test.ts'

export const readModelBugs: readonly PlantedBug[] = [
  {
    name: 'a removed stream is marked in another way under the same version',
    file: 'src/engine/read-models/stored-texts.ts',
    text: "const removedMark = 'x'",
    becomes: "const removedMark = 'r'",
    caughtBy: { file: recordedState, title: 'is as recorded: petRemoved' },
  },
  {
    name: 'a removed pet is marked in another way under the same version',
    file: 'src/store/pet-stream.ts',
    text: "const removedMark = 'removed'",
    becomes: "const removedMark = 'gone'",
    caughtBy: { file: recordedState, title: 'is as recorded: removed, and never ordered' },
  },
  {
    name: 'a key in Redis has another name under the same version',
    file: 'src/engine/read-models/redis/redis-keys.ts',
    text: ':set:',
    becomes: ':of:',
    caughtBy: { file: 'test/store/recorded-state.int.test.ts', title: 'is as recorded: petCreated' },
    needsBrokers: true,
  },
  {
    name: 'parked streams are taken for the same after a discard of as many as were parked',
    file: 'src/engine/operations/parked.ts',
    text: '[partition, counts.parked, counts.discarded]',
    becomes: '[partition, counts.parked]',
    caughtBy: {
      file: 'test/engine/operations/parked.unit.test.ts',
      title: 'the streams are read again only once something was parked or discarded',
    },
  },
  {
    name: 'only the first position of a token is waited for',
    file: proven,
    text: 'const missing = positions.filter(',
    becomes: 'const missing = positions.slice(0, 1).filter(',
    caughtBy: { file: provenTests, title: 'page: the answer has all of them, however long that takes' },
  },
  {
    name: 'nothing is in doubt after a lost connection',
    file: proven,
    text: `        this.#positions.forget()
        this.#known?.doubt()`,
    becomes: '        this.#positions.forget()',
    caughtBy: {
      file: setbacks,
      title: 'what may have changed while the connection was lost, until it is complete again',
    },
  },
  {
    name: 'a set that has lost entries is read',
    file: proven,
    text: 'if (!isComplete) this.#refuse',
    becomes: 'if (!isComplete && !known.isProved) this.#refuse',
    caughtBy: { file: provenTests, title: 'in a set that lost something, and says so' },
  },
  {
    name: 'an answer may be older than one given before',
    file: proven,
    text: 'if (!reach(checkpoints, seen)) known.doubt()',
    becomes: 'if (checkpoints.size === 0 && seen.length > 0) known.doubt()',
    caughtBy: {
      file: setbacks,
      title: 'older than an answer it gave, though that was never announced, until it is complete again',
    },
  },
  {
    name: 'missed announcements are taken as heard',
    file: positions,
    text: 'if (from > this.#next) this.start(Math.min(from, next))',
    becomes: '',
    caughtBy: { file: positionTests, title: 'a message was missed' },
  },
  {
    name: 'a wait ends one record early',
    file: positions,
    text: "if (offset >= this.#next) return 'late'",
    becomes: "if (offset > this.#next) return 'late'",
    caughtBy: { file: positionTests, title: 'nothing is known' },
  },
]
