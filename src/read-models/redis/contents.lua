--[[ contents: how much there is in a generation, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] counters, hash    KEYS[4] parked, hash
  KEYS[5] decisions, hash    KEYS[6..] documents and indexes, sorted sets
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, the same of counters, how many parked,
          how many decisions, {size of KEYS[6], ...}}; or nil where the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local sizes = {}
for key = 6, #KEYS do sizes[key - 5] = redis.call('ZCARD', KEYS[key]) end
return {
  redis.call('HGET', KEYS[1], 'name') or '',
  redis.call('HGETALL', KEYS[2]),
  redis.call('HGETALL', KEYS[3]),
  redis.call('HLEN', KEYS[4]),
  redis.call('HLEN', KEYS[5]),
  sizes,
}
