import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startKafka } from './processes.ts'
import { freePort } from './ready.ts'
import { jarsFolder } from './settings.ts'

/** A Kafka with two listeners: one for its administrators, and one that asks for a password, by SCRAM-SHA-256. */
export async function startKafkaWithScram(config: Record<string, string> = {}) {
  const [admin, client, controller] = [await freePort(), await freePort(), await freePort()]
  const module = 'org.apache.kafka.common.security.scram.ScramLoginModule'
  const kafka = await startKafka(
    {
      config: {
        listeners: `PLAINTEXT://127.0.0.1:${admin},CLIENT://127.0.0.1:${client},CONTROLLER://127.0.0.1:${controller}`,
        'advertised.listeners': `PLAINTEXT://127.0.0.1:${admin},CLIENT://127.0.0.1:${client}`,
        'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
        'controller.quorum.voters': `1@127.0.0.1:${controller}`,
        'sasl.enabled.mechanisms': 'SCRAM-SHA-256',
        'listener.name.client.scram-sha-256.sasl.jaas.config': `${module} required;`,
        ...config,
      },
    },
    { port: admin },
  )
  /** From now on the user has this password, and no other. Sessions that are open go on until they end. */
  async function setPassword(user: string, password: string): Promise<void> {
    const to = ['--bootstrap-server', kafka.brokers, '--entity-type', 'users', '--entity-name', user]
    const change = ['--alter', '--add-config', `SCRAM-SHA-256=[password=${password}]`]
    const java = ['-cp', join(jarsFolder, '*'), 'kafka.admin.ConfigCommand']
    await promisify(execFile)('java', [...java, ...to, ...change])
  }
  return { ...kafka, clientBrokers: `127.0.0.1:${client}`, setPassword }
}
