--[[ forget-version-1: takes a version out of the list if it was not in use of late.
  KEYS[1] versions, sorted set
  ARGV[1] version    ARGV[2] for how many milliseconds it was not renewed
  Returns 1; or 0, having written nothing ]]
local renewed = redis.call('ZSCORE', KEYS[1], ARGV[1])
local time = redis.call('TIME')
if not renewed or tonumber(renewed) > time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
