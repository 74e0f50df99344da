--[[ build-generation: begins to build a generation, unless one is already being built.
  KEYS[1] building, hash    KEYS[2] checkpoints of the generation, hash    KEYS[3] its sizes, hash
  ARGV[1] name    ARGV[2] log id
  What is of another type in KEYS[1], or lacks a name or a log id, counts as missing.
  Returns {name, log id} of the one being built; if that belongs to another log, nothing is written ]]
local name, logId = unpack(redis.pcall('HMGET', KEYS[1], 'name', 'epoch'))
if name and logId and logId ~= ARGV[2] then return {name, logId} end
if not (name and logId) then
  redis.call('DEL', KEYS[1])
  name = ARGV[1]
  redis.call('HSET', KEYS[2], 'epoch', ARGV[2])
  redis.call('HSET', KEYS[3], 'keys', 0)
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'name', name, 'epoch', ARGV[2], 'since', time[1] * 1000 + math.floor(time[2] / 1000))
return {name, ARGV[2]}
