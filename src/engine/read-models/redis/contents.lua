--[[ contents: the sizes of all sets of a generation, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] the sets with these sizes
  ARGV[1..] for each of KEYS[4..] the type that it should have
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, the same of sizes, {size of KEYS[4], ...}},
          with -1 for one of another type; or nil if the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local sizes = {}
for i = 4, #KEYS do
  local size = redis.pcall(ARGV[i - 3] == 'hash' and 'HLEN' or 'ZCARD', KEYS[i])
  sizes[i - 3] = type(size) == 'number' and size or -1
end
local active = redis.pcall('HGET', KEYS[1], 'name')
return {type(active) == 'string' and active or '', redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]), sizes}
