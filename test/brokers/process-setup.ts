import { tuneProcess } from '../../src/engine/log/kafka/process-tuning.ts'

/**
 * Whoever tests with brokers uses kafkajs in the own process, prepared as the service prepares its own: otherwise it
 * shows a part of what transactions aborted that interleave.
 */
tuneProcess({ consumes: true })
