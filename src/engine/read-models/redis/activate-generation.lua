--[[ activate-generation: makes the generation being built the active one if it is not behind and complete.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set
  KEYS[4] checkpoints of the active generation, hash; any key if there is none
  KEYS[5] checkpoints of the one being built, hash    KEYS[6] its sizes, hash    KEYS[7..] the sets with these sizes
  ARGV[1] its name    ARGV[2] name of the generation of KEYS[4], '' for none
  ARGV[3] progress channel    ARGV[4] progress message
  ARGV[5..] for each of KEYS[7..] the field of KEYS[6] and the type that it should have
  Returns 'activated'; or, having written nothing, 'not_building', 'incomplete', 'other_keys' if another generation is
          active than ARGV[2], or KEYS[6] has a field that is not among ARGV; or, having paused the active generation unless
          that was paused less than 5 s ago, 'behind'. What cannot be read of the active one, or names none, counts as
          missing; what cannot be read of the other one, as 'incomplete' ]]
local function fieldsOf(key)
  local flat, fields = redis.pcall('HGETALL', key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end
local function nextOf(checkpoint)
  if not checkpoint then return 0 end
  local next = tonumber(string.match(checkpoint, '^%[(%d+),'))
  return next and next < 2 ^ 53 and next
end

local building = fieldsOf(KEYS[2])
local checkpoints = fieldsOf(KEYS[5])
if building.name ~= ARGV[1] or not checkpoints.epoch then return 'not_building' end
local active = fieldsOf(KEYS[1])
if active.epoch and active.epoch ~= building.epoch then return 'not_building' end
local before = active.epoch and active.name or ''
if before ~= ARGV[2] then return 'other_keys' end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reached = before == '' and {} or fieldsOf(KEYS[4])
local isCompared = reached.epoch ~= nil
for field, checkpoint in pairs(reached) do
  local isCheckpoint = string.find(field, '^%d')
  if isCheckpoint and not nextOf(checkpoints[field]) then return 'incomplete' end
  if isCheckpoint and not nextOf(checkpoint) then
    isCompared = false
  elseif isCheckpoint and nextOf(checkpoint) > nextOf(checkpoints[field]) then
    local pausedMs = now - (tonumber(active.paused) or 0)
    if pausedMs >= 5000 or pausedMs < 0 then redis.call('HSET', KEYS[1], 'paused', now) end
    return 'behind'
  end
end

local sizes, looked = fieldsOf(KEYS[6]), {}
if not next(sizes) then return 'incomplete' end
for i = 7, #KEYS do
  local name, kind = unpack(ARGV, 2 * i - 9, 2 * i - 8)
  local size = redis.pcall(kind == 'hash' and 'HLEN' or 'ZCARD', KEYS[i])
  if type(size) ~= 'number' or tostring(size) ~= (sizes[name] or '0') then return 'incomplete' end
  looked[name] = true
end
for field in pairs(sizes) do
  if not looked[field] then return 'other_keys' end
end

local kept = redis.call('TYPE', KEYS[3]).ok
if kept ~= 'zset' then redis.call('DEL', KEYS[3]) end
if active.name then redis.call('ZADD', KEYS[3], now, active.name) end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'epoch', building.epoch, 'since', now, 'continues', isCompared and before or '')
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 'activated'
