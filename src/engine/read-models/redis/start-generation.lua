--[[ start-generation: makes an empty generation the active one if the one to be replaced is still active.
  KEYS[1] active, hash    KEYS[2] replaced, sorted set    KEYS[3] checkpoints of the new generation, hash
  KEYS[4] its sizes, hash
  ARGV[1] name    ARGV[2] log id    ARGV[3] name of the generation to be replaced, '' for none
  ARGV[4] progress channel    ARGV[5] progress message
  What is of another type in KEYS[1] or KEYS[2] counts as missing, and so does an active generation without a log id.
  Returns 1; or 0, having written nothing ]]
local before, logId = unpack(redis.pcall('HMGET', KEYS[1], 'name', 'epoch'))
if (logId and before or '') ~= ARGV[3] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('TYPE', KEYS[2]).ok ~= 'zset' then redis.call('DEL', KEYS[2]) end
if before then redis.call('ZADD', KEYS[2], now, before) end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'epoch', ARGV[2], 'since', now, 'continues', '')
redis.call('HSET', KEYS[3], 'epoch', ARGV[2])
redis.call('HSET', KEYS[4], 'keys', 0)
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
