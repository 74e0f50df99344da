import { defineConfig } from 'vitest/config'

export const brokers = {
  globalSetup: './test/brokers/global-setup.ts',
  setupFiles: './test/brokers/process-setup.ts',
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // They mostly wait: two files at a time keep two cores busy, and each still has its turn in time.
  maxWorkers: 2,
  sequence: { groupOrder: 1 }, // behind the unit tests, which tell of most mistakes within a minute
}

/** They are started and broken. What has to happen in time is waited for with a limit of its own. */
const wholeSystems = { ...brokers, testTimeout: 300_000, hookTimeout: 300_000 }

// Property tests take a second or two alone, and several times that on a machine that does other things too.
const unit = { setupFiles: './test/lib/unit-setup.ts', testTimeout: 60_000 }
/** They replace modules, which no other file may see. */
export const replacing = [
  'test/judge/commands.model.unit.test.ts',
  'test/judge/judge.unit.test.ts',
  'test/judge/several.model.unit.test.ts',
  'test/store/seed.unit.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', './test/progress-reporter.ts'],
    projects: [
      // The files of a worker share its modules: to load them again for each took more than half of the time.
      { test: { name: 'unit', include: ['test/**/*.unit.test.ts'], exclude: replacing, isolate: false, ...unit } },
      { test: { name: 'unit-alone', include: replacing, ...unit } },
      { test: { name: 'int', include: ['test/**/*.int.test.ts'], ...brokers } },
      { test: { name: 'e2e', include: ['test/**/*.e2e.test.ts'], ...wholeSystems } },
      // Files that take longer than half a minute: `npm test` leaves them out, `npm run test:all` does not.
      { test: { name: 'long', include: ['test/**/*.long.test.ts'], ...wholeSystems } },
    ],
  },
})
