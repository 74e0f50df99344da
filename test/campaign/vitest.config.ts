import { defineConfig } from 'vitest/config'
import { brokers } from '../../vitest.config.ts'

/** `npm run campaign:published`: what takes too long for `npm run test:all`. */
export default defineConfig({ test: { ...brokers, include: ['test/campaign/**/*.campaign.test.ts'] } })
