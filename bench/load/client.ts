import { autocannon } from './autocannon.ts'
import type { LoadClient } from './load.ts'
import { wrk, wrkIsThere } from './wrk.ts'

export async function findClient(): Promise<LoadClient> {
  return (await wrkIsThere()) ? wrk : autocannon
}
