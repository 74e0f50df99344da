import { defineConfig } from 'vitest/config'

const brokers = {
  globalSetup: './test/brokers/global-setup.ts',
  setupFiles: './test/brokers/process-setup.ts',
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // Brokers, services and the test share few cores: one file at a time keeps the waits short and the logs readable.
  fileParallelism: false,
}

export default defineConfig({
  test: {
    projects: [
      // Property tests take a second or two alone, and several times that on a machine that does other things too.
      { test: { name: 'unit', include: ['test/**/*.unit.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'int', include: ['test/**/*.int.test.ts'], ...brokers } },
      // Whole systems are started and broken. What has to happen in time is waited for with a limit of its own.
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.e2e.test.ts'],
          ...brokers,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
