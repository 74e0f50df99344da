--[[ remove-generation: retires a generation: nothing is written to its other keys any more, so that they can be removed.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set    KEYS[4] checkpoints, hash
  ARGV[1] name    ARGV[2] 'active' to remove it even if it is the active one, or ''
  ARGV[3] minimum milliseconds since it was replaced or last requested; does not apply to the active one
  What is of another type in KEYS[1..3] counts as missing. A time beyond the present, from before the clock was set back, becomes the present; so does what is no time.
  Returns 'removed', having added it to the replaced ones, where it is found until all its keys are gone; 'rest' if
          that was done before; or, having written nothing else, 'kept' ]]
local name = ARGV[1]
local isActive = redis.pcall('HGET', KEYS[1], 'name') == name
local isBuilding = redis.pcall('HGET', KEYS[2], 'name') == name
if redis.call('TYPE', KEYS[3]).ok ~= 'zset' then redis.call('DEL', KEYS[3]) end
local stored = isBuilding and redis.call('HGET', KEYS[2], 'since') or redis.call('ZSCORE', KEYS[3], name)
local isThere = redis.call('EXISTS', KEYS[4]) == 1
if not (isActive or stored or isThere) then return 'kept' end
if isActive and ARGV[2] ~= 'active' then return 'kept' end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since = stored and tonumber(stored)
if stored and not (since and since <= now) then
  since = now
  if isBuilding then redis.call('HSET', KEYS[2], 'since', now) else redis.call('ZADD', KEYS[3], now, name) end
end
if not isActive and since and since > now - ARGV[3] then return 'kept' end

redis.call('UNLINK', KEYS[4])
redis.call('ZADD', KEYS[3], since or 0, name)
if isBuilding then redis.call('DEL', KEYS[2]) end
if isActive then redis.call('DEL', KEYS[1]) end
return (isThere or isBuilding or isActive) and 'removed' or 'rest'
