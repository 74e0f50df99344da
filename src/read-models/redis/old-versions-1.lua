--[[ old-versions-1: the versions that were not in use of late.
  KEYS[1] versions, sorted set
  ARGV[1] for how many milliseconds they were not renewed
  Returns {version, ...} ]]
local time = redis.call('TIME')
return redis.call('ZRANGE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1], 'BYSCORE')
