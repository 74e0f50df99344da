import type { PlantedBug } from '../bug.ts'

const sqliteProjection = 'src/engine/read-models/sqlite/sqlite-projection.ts'
const applyBatch = 'src/engine/read-models/redis/apply-batch.lua'
const sqlite = 'test/engine/read-models/sqlite/sqlite-read-models.unit.test.ts'
const longStates = 'test/engine/projector/long-states.unit.test.ts'
const redis = 'test/engine/read-models/redis/redis-read-models.int.test.ts'
/** Cases of the contract that both stores keep. */
const mismatch = 'a batch that expects another position, record or count than the stored one is a mismatch'
const sizes = 'recorded sizes move by what a batch says, and still show what a set that it leaves alone has lost'
const behind = 'one that is behind in a single partition is refused, by numbers, whatever it is ahead in'

export const storeBugs: readonly PlantedBug[] = [
  {
    name: 'a batch is applied wherever its partition is (SQLite)',
    file: sqliteProjection,
    text: 'if (encodeCheckpoint(storedCheckpoint(database, key, partition)) !== encodeCheckpoint(expected)) {',
    becomes: 'if (storedCheckpoint(database, key, partition).next > checkpoint.next && expected.next > 0) {',
    caughtBy: { file: sqlite, title: mismatch },
  },
  {
    name: 'a batch is applied wherever its partition is (Redis)',
    file: applyBatch,
    text: "if (stored or '') ~= ARGV[3] or stored == '' then return {'checkpoint_mismatch'} end",
    becomes: '',
    caughtBy: { file: redis, title: mismatch },
    needsBrokers: true,
  },
  {
    name: 'the size of a set is not moved by what leaves it (SQLite)',
    file: sqliteProjection,
    text: '  set.added--\n',
    becomes: '',
    caughtBy: { file: sqlite, title: sizes },
  },
  {
    name: 'the size of a set is not moved by what leaves it (Redis)',
    file: applyBatch,
    text: 'grow(name, n / 2 - #gone)',
    becomes: 'grow(name, n / 2)',
    caughtBy: { file: redis, title: sizes },
    needsBrokers: true,
  },
  {
    name: 'a stream whose row is missing is taken for a new one',
    file: 'src/engine/projector/lookup.ts',
    text: 'if (!state.isComplete) throw new NotAsExpected(true)',
    becomes: '',
    caughtBy: {
      file: longStates,
      title: 'a stream whose row is missing is not taken for a new one: its partition stays where it is',
    },
  },
  {
    name: 'a look takes a generation with a damaged checkpoint for a complete one (SQLite)',
    file: 'src/engine/read-models/sqlite/sqlite-generations.ts',
    text: 'isComplete: found.damage === undefined,',
    becomes: 'isComplete: true,',
    caughtBy: {
      file: sqlite,
      title: 'a look names what it finds damaged, and a damaged checkpoint is never moved',
    },
  },
  {
    name: 'the entries of a row count in how long it is',
    file: 'src/engine/read-models/row-place.ts',
    text: 'row.hidden.length <= hiddenBehindMax',
    becomes: 'text.length <= 2 * hiddenBehindMax',
    caughtBy: {
      file: longStates,
      title: 'a row stands behind the document up to 1,024 hidden characters, however many entries it has',
    },
  },
  {
    name: 'a generation takes over that is behind in one partition (SQLite)',
    file: 'src/engine/read-models/sqlite/sqlite-generations.ts',
    text: 'return [...stored].some(([partition, { next }]) =>',
    becomes: 'return [...stored].every(([partition, { next }]) =>',
    caughtBy: { file: sqlite, title: behind },
  },
  {
    name: 'a generation takes over that is behind in one partition (Redis)',
    file: 'src/engine/read-models/redis/activate-generation.lua',
    text: 'nextOf(checkpoint) > nextOf(checkpoints[field])',
    becomes: 'checkpoint and not checkpoints[field]',
    caughtBy: { file: redis, title: behind },
    needsBrokers: true,
  },
  {
    name: 'a look counts only the sets that the look before it found (Redis)',
    file: 'src/engine/read-models/redis/redis-look.ts',
    text: 'return isSame && new Set(found.sets).isSubsetOf(new Set(asked.sets))',
    becomes: 'return isSame',
    caughtBy: {
      file: redis,
      title: 'a look tells that any set of the active generation lost an entry, and of no other one',
    },
    needsBrokers: true,
  },
  {
    name: 'a proof is used again for an equal state text',
    file: 'src/engine/read-models/redis/group-reader.ts',
    text: `    if (state !== lastState) {
      const [active = '', ...fields] = state.split('\\0')
      snapshot = decodeSnapshot(active, fields)
      lastState = state
    }
    const isWhole = ({ set }: SetLookup) => completeness[sets.indexOf(set)] === '1'`,
    becomes: `    const isUnchanged = state === lastState
    if (!isUnchanged) {
      const [active = '', ...fields] = state.split('\\0')
      snapshot = decodeSnapshot(active, fields)
      lastState = state
    }
    const isWhole = ({ set }: SetLookup) => isUnchanged || completeness[sets.indexOf(set)] === '1'`,
    caughtBy: {
      file: 'test/engine/read-models/redis/redis-group-proof.unit.test.ts',
      title: 'each answer is as complete as its own sets were, though nothing was written between two',
    },
  },
  {
    name: 'nothing is in doubt after Redis reconnects for commands alone',
    file: 'src/engine/read-models/redis/redis-connection.ts',
    text: "if (subscriber.status === 'ready') subscriber.disconnect(true)",
    becomes: '// The subscriber notices by itself.',
    caughtBy: {
      file: 'test/engine/read-models/redis/redis-connection.unit.test.ts',
      title: 'a lost connection for commands puts in doubt what was heard',
    },
  },
]
