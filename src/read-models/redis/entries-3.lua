--[[ entries-3: some members of a set of documents as they are stored, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] a collection or an index, sorted set
  ARGV[1] lowest id    ARGV[2] how many at most
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, {member, id, ...}}; or nil where the
          generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
return {
  redis.call('HGET', KEYS[1], 'name') or '',
  redis.call('HGETALL', KEYS[2]),
  redis.call('ZRANGE', KEYS[3], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES'),
}
