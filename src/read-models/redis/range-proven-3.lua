--[[ range-proven-3: a range of documents or of an index, with what proves an absence, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] documents or an index, sorted set
  ARGV[1] lowest id    ARGV[2] highest id    ARGV[3] most members to return
  Returns {members, name of the active generation or '', fields and values of checkpoints in turn, size of KEYS[3]} ]]
return {
  redis.call('ZRANGE', KEYS[3], ARGV[1], ARGV[2], 'BYSCORE', 'LIMIT', 0, ARGV[3]),
  redis.call('HGET', KEYS[1], 'name') or '',
  redis.call('HGETALL', KEYS[2]),
  redis.call('ZCARD', KEYS[3]),
}
