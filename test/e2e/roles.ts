import { Client } from './client.ts'
import { type Environment, type ServiceProcess, startService } from './service-process.ts'

export interface Roles {
  readonly projector: ServiceProcess
  readonly apis: readonly [ServiceProcess, ServiceProcess]
  readonly clients: readonly [Client, Client]
}

/** Two instances that answer requests and one that projects, as a deployment may have them. */
export async function startRoles(environment: Environment): Promise<Roles> {
  const start = (ROLE: string) => startService({ ...environment, ROLE })
  const [projector, ...apis] = await Promise.all([start('projector'), start('api'), start('api')])
  return { projector, apis, clients: [new Client(apis[0]), new Client(apis[1])] }
}
