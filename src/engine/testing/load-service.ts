/** What a running service is made of. Tests of decisions alone need none of it, and an old Node cannot load it. */
export async function loadService() {
  const [{ pino }, { readConfig }, { openService, startService }] = await Promise.all([
    import('pino'),
    import('../app/config.ts'),
    import('../app/service.ts'),
  ])
  return { pino, readConfig, openService, startService }
}
