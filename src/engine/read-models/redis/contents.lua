--[[ contents: the sizes of all sets of a generation, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] the sets with these sizes, hashes and sorted sets
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, the same of sizes, {size of KEYS[4], ...}};
          or nil if the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local sizes = {}
for i = 4, #KEYS do sizes[i - 3] = redis.call(redis.call('TYPE', KEYS[i]).ok == 'hash' and 'HLEN' or 'ZCARD', KEYS[i]) end
return {redis.call('HGET', KEYS[1], 'name') or '', redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]), sizes}
