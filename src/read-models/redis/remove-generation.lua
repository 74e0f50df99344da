--[[ remove-generation: removes a generation with all it holds; the server frees the memory in the background.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set    KEYS[4] checkpoints, hash
  KEYS[5..] the other keys of the generation: its indexes, and those that every generation has
  ARGV[1] name    ARGV[2] how many of KEYS are indexes    ARGV[3] 'active' to remove it even if it is the active one, or ''
  ARGV[4] for how many milliseconds it must have been replaced, or not been asked for; the active one is never too young
  Returns 'removed'; or, having written nothing, 'kept', or 'other_keys' where it has another number of indexes ]]
local name = ARGV[1]
local isActive = redis.call('HGET', KEYS[1], 'name') == name
local isBuilding = redis.call('HGET', KEYS[2], 'name') == name
local replacedSince = redis.call('ZSCORE', KEYS[3], name)
local fields = redis.call('HKEYS', KEYS[4])
if not (isActive or isBuilding or replacedSince or #fields > 0) then return 'kept' end
if isActive and ARGV[3] ~= 'active' then return 'kept' end

local since = isBuilding and redis.call('HGET', KEYS[2], 'since') or replacedSince
local time = redis.call('TIME')
local latest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[4]
if not isActive and since and tonumber(since) > latest then return 'kept' end

local indexes = 0
for _, field in ipairs(fields) do
  if string.find(field, '^added:') then indexes = indexes + 1 end
end
if indexes ~= tonumber(ARGV[2]) then return 'other_keys' end

for key = 4, #KEYS do redis.call('UNLINK', KEYS[key]) end
redis.call('ZREM', KEYS[3], name)
if isBuilding then redis.call('DEL', KEYS[2]) end
if isActive then redis.call('DEL', KEYS[1]) end
return 'removed'
