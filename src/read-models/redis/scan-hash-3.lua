--[[ scan-hash-3: some of a hash, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] rows or keys, hash
  ARGV[1] cursor of HSCAN    ARGV[2] how many, about
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, {next cursor, {field, value, ...}}}; or
          nil where the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
return {
  redis.call('HGET', KEYS[1], 'name') or '',
  redis.call('HGETALL', KEYS[2]),
  redis.call('HSCAN', KEYS[3], ARGV[1], 'COUNT', ARGV[2]),
}
