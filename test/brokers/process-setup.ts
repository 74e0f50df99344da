import { tuneProcess } from '../../src/event-log/kafka/process-tuning.ts'

/** Tests with brokers use kafkajs in their own process, prepared as the service prepares its own. */
tuneProcess({ consumes: true })
