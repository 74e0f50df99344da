--[[ renew-version-1: marks a version as in use now.
  KEYS[1] versions, sorted set
  ARGV[1] version
  Returns 1 ]]
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
return 1
