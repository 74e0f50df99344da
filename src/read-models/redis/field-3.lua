--[[ field-3: one field of a hash, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] rows, keys or parked, hash
  ARGV[1] field
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, its value or nil}; or nil where the
          generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
return {redis.call('HGET', KEYS[1], 'name') or '', redis.call('HGETALL', KEYS[2]), redis.call('HGET', KEYS[3], ARGV[1])}
