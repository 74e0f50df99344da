--[[ activate-generation: makes the generation being built the active one if it is nowhere behind and holds all it should.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set
  KEYS[4] checkpoints of the active generation, hash; any key where none is
  KEYS[5] checkpoints of the one being built, hash    KEYS[6] its documents, sorted set    KEYS[7..] its indexes, sorted sets
  ARGV[1] its name    ARGV[2] name of the generation of KEYS[4], '' for none
  ARGV[3] progress channel    ARGV[4] progress message    ARGV[5..] names of the indexes KEYS[7..]
  Returns 'activated'; or, having written nothing, 'not_building', 'behind', 'incomplete', or 'other_keys' where another
          generation is active than ARGV[2], or the one being built has an index that is not among KEYS ]]
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

if before ~= '' then
  for field, checkpoint in pairs(fieldsOf(KEYS[4])) do
    if string.find(field, '^%d') and nextOf(checkpoint) > nextOf(checkpoints[field]) then return 'behind' end
  end
end

local keys = {added = KEYS[6]}
for i = 5, #ARGV do keys['added:' .. ARGV[i]] = KEYS[i + 2] end
for field in pairs(checkpoints) do
  if string.find(field, '^added') and not keys[field] then return 'other_keys' end
end
for field, key in pairs(keys) do
  if redis.call('ZCARD', key) ~= tonumber(checkpoints[field] or '0') then return 'incomplete' end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if before ~= '' then redis.call('ZADD', KEYS[3], now, before) end
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'epoch', building.epoch, 'since', now, 'continues', before)
redis.call('DEL', KEYS[2])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 'activated'
