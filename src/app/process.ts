import { tuneProcess } from '../event-log/kafka/process-tuning.ts'
import type { Config } from './config.ts'

/** What has to be set for the whole process, before anything else starts. */
export function prepareProcess({ brokers, role }: Pick<Config, 'brokers' | 'role'>): void {
  if (brokers !== undefined) tuneProcess({ consumes: role !== 'api' })
}
