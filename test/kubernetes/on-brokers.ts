import { expect, vi } from 'vitest'
import { apiKey } from '../e2e/client.ts'
import type { brokerEnvironment } from '../e2e/service.ts'
import { Build } from './manifests.ts'
import type { Cluster, Pod } from './pod.ts'
import { keyFile, MountedSecret } from './secret.ts'

export const build = new Build('brokers')
export const [api, projector] = [build.deployment('petstore-api'), build.deployment('petstore-projector')]
export const patience = { timeout: 60_000, interval: 50 }

/** A cluster whose operator named these brokers, which need neither TLS nor a password. */
export function clusterOn({ DATA_DIR: _, REDIS_URL, ...brokers }: ReturnType<typeof brokerEnvironment>): Cluster {
  const secrets = {
    'petstore-api-keys': new MountedSecret(keyFile(apiKey)),
    'petstore-brokers': new MountedSecret({ 'redis-url': REDIS_URL, 'kafka-password': '' }),
  }
  const unused = { KAFKA_TLS: '', KAFKA_SASL_MECHANISM: '', KAFKA_SASL_USERNAME: '', KAFKA_SASL_PASSWORD_FILE: '' }
  return { build, secrets, settings: { ...brokers, ...unused } }
}

export async function untilReady(pods: readonly Pod[], isReady = true): Promise<void> {
  const states = () => pods.map((pod) => pod.isReady)
  try {
    await vi.waitFor(() => expect(states()).toEqual(pods.map(() => isReady)), patience)
  } catch (error) {
    throw new Error(`${error}\n${(await Promise.all(pods.map((pod) => pod.logs()))).join('\n')}`)
  }
}
