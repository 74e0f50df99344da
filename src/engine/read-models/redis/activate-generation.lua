--[[ activate-generation: makes the generation being built the active one if it is not behind and complete.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set
  KEYS[4] checkpoints of the active generation, hash; any key if there is none
  KEYS[5] checkpoints of the one being built, hash    KEYS[6] its sizes, hash    KEYS[7..] the sets with these sizes
  ARGV[1] its name    ARGV[2] name of the generation of KEYS[4], '' for none
  ARGV[3] progress channel    ARGV[4] progress message
  ARGV[5..] for each of KEYS[7..] the field of KEYS[6]
  Returns 'activated'; or, having written nothing, 'not_building', 'incomplete', 'other_keys' if another generation is
          active than ARGV[2], or KEYS[6] has a field that is not among ARGV; or, having paused the active generation unless
          that was paused less than 5 s ago, 'behind' ]]
local function fieldsOf(key)
  local flat, fields = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end
local function nextOf(checkpoint) return checkpoint and cjson.decode(checkpoint)[1] or 0 end

local building = fieldsOf(KEYS[2])
local checkpoints = fieldsOf(KEYS[5])
if building.name ~= ARGV[1] or not checkpoints.epoch then return 'not_building' end
local active = fieldsOf(KEYS[1])
if active.epoch and active.epoch ~= building.epoch then return 'not_building' end
local before = active.name or ''
if before ~= ARGV[2] then return 'other_keys' end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for field, checkpoint in pairs(before == '' and {} or fieldsOf(KEYS[4])) do
  if string.find(field, '^%d') and nextOf(checkpoint) > nextOf(checkpoints[field]) then
    local pausedMs = now - (active.paused or 0)
    if pausedMs >= 5000 or pausedMs < 0 then redis.call('HSET', KEYS[1], 'paused', now) end
    return 'behind'
  end
end

if redis.call('EXISTS', KEYS[6]) == 0 then return 'incomplete' end
local sizes, looked = fieldsOf(KEYS[6]), {}
for i = 7, #KEYS do
  local size = redis.call(redis.call('TYPE', KEYS[i]).ok == 'hash' and 'HLEN' or 'ZCARD', KEYS[i])
  if size ~= tonumber(sizes[ARGV[i - 2]] or 0) then return 'incomplete' end
  looked[ARGV[i - 2]] = true
end
for field in pairs(sizes) do
  if not looked[field] then return 'other_keys' end
end

if before ~= '' then redis.call('ZADD', KEYS[3], now, before) end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'epoch', building.epoch, 'since', now, 'continues', before)
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 'activated'
