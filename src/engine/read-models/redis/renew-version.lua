--[[ renew-version: marks a version as in use now.
  KEYS[1] versions, sorted set; what is there of another type is removed
  ARGV[1] version
  Returns 1 ]]
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
return 1
