/** Every write is on disk before it is acknowledged, so a test may kill the server at any moment and know what is left. */
export const redisTestArgs: readonly string[] = [
  ...['--save', ''],
  ...['--appendonly', 'yes'],
  ...['--appendfsync', 'always'],
]
