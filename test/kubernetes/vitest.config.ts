import { defineConfig } from 'vitest/config'
import { brokers } from '../../vitest.config.ts'

/** `.ci/kubernetes`, which builds the manifests that these tests are about. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'rules', include: ['test/kubernetes/*.rules.test.ts'] } },
      { test: { name: 'played', include: ['test/kubernetes/*.played.test.ts'], ...brokers, testTimeout: 120_000 } },
    ],
  },
})
