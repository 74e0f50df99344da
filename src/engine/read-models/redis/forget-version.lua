--[[ forget-version: removes a version from the list if it was not renewed meanwhile.
  KEYS[1] versions, sorted set
  ARGV[1] version    ARGV[2] its score when it was looked at
  Returns 1; or 0, having written nothing ]]
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
