--[[ contents: how much there is in a generation, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] what these are about
  ARGV[1..] for each of KEYS[4..] h for a hash, z for a sorted set
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, the same of sizes, {size of KEYS[4], ...}};
          or nil where the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local sizes = {}
for i, kind in ipairs(ARGV) do sizes[i] = redis.call(kind == 'h' and 'HLEN' or 'ZCARD', KEYS[i + 3]) end
return {redis.call('HGET', KEYS[1], 'name') or '', redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]), sizes}
