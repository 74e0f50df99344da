--[[ apply-batch: applies one batch of one partition if its checkpoint is the expected one. O(log n) a member.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] checkpoints, hash    KEYS[4] documents, sorted set
  KEYS[5] decisions, hash    KEYS[6] parked, hash    KEYS[7] parked offsets, sorted set    KEYS[8] parked subjects, sorted set
  KEYS[9] counters, hash    KEYS[10..] the indexes that the batch adds to, sorted sets; KEYS[3..] all of one generation
  ARGV[1] generation    ARGV[2] partition    ARGV[3] expected checkpoint, '' for none stored    ARGV[4] new checkpoint
  ARGV[5] progress channel    ARGV[6] progress message    ARGV[7] length of the tag at the end of a documents member
  ARGV[8..] sections: the checkpoints field that counts what is added ('' for none), the number of arguments, then these.
            For each of KEYS[4..]: score and member for a sorted set, field and value for a hash, in turn (of the counters
            the value is what to add; those of KEYS[4] in order of score). Then the fields of KEYS[6] to remove, and the
            members of KEYS[8] to remove
  Returns {'applied'}; or, having written nothing, {'generation_gone'}, {'checkpoint_mismatch'},
          {'keys_decided', key, ...} or {'ids_taken', id, its tag, ...} ]]
local checkpoints, documents, decisions, parked = KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local isActive = redis.call('HGET', KEYS[1], 'name') == ARGV[1]
if not isActive and redis.call('HGET', KEYS[2], 'name') ~= ARGV[1] then return {'generation_gone'} end
local epoch, stored = unpack(redis.call('HMGET', checkpoints, 'epoch', ARGV[2]))
if not epoch then return {'generation_gone'} end
if (stored or '') ~= ARGV[3] then return {'checkpoint_mismatch'} end

local sections = {}
local at = 8
while at <= #ARGV do
  local first = at + 2
  at = first + tonumber(ARGV[at + 1])
  sections[#sections + 1] = {counter = ARGV[first - 2], first = first, last = at - 1}
end
local function sectionOf(key) return sections[key - 3] end
local unparked, freed = sections[#sections - 1], sections[#sections]

-- Before the ids: a record that a decided key drops takes none.
local decided = {'keys_decided'}
for i = sectionOf(5).first, sectionOf(5).last, 2 do
  if redis.call('HEXISTS', decisions, ARGV[i]) == 1 then decided[#decided + 1] = ARGV[i] end
end
if #decided > 1 then return decided end

-- Ids stay text throughout: Lua would write those above 10^14 in scientific notation.
local taken = {'ids_taken'}
local ids = sectionOf(4)
-- One look at all of the range spares a look for each id, where no other partition has ids in between.
local isFree = ids.last < ids.first or redis.call('ZCOUNT', documents, ARGV[ids.first], ARGV[ids.last - 1]) == 0
for i = ids.first, isFree and 0 or ids.last, 2 do
  local id = ARGV[i]
  if redis.call('ZCOUNT', documents, id, id) > 0 then
    local member = redis.call('ZRANGE', documents, id, id, 'BYSCORE', 'LIMIT', 0, 1)[1]
    taken[#taken + 1] = id
    taken[#taken + 1] = string.sub(member, -tonumber(ARGV[7]))
  end
end
if #taken > 1 then return taken end

-- Lua's stack holds fewer than 8000 arguments of one call.
local function write(command, key, section)
  local changed = 0
  for from = section.first, section.last, 2000 do
    changed = changed + redis.call(command, key, unpack(ARGV, from, math.min(from + 1999, section.last)))
  end
  return changed
end

-- Before what is parked anew.
for i = unparked.first, unparked.last do
  local event = redis.call('HGET', parked, ARGV[i])
  if event then
    local partition, offset = string.match(ARGV[i], '^(.*)/(.*)$')
    redis.call('ZREM', KEYS[7], partition .. '/' .. cjson.decode(event).subject .. '/' .. offset)
    redis.call('HDEL', parked, ARGV[i])
  end
end
write('ZREM', KEYS[8], freed)

local hashes = {[5] = true, [6] = true}
for key = 4, #KEYS do
  local section = sectionOf(key)
  if key == 9 then
    for i = section.first, section.last, 2 do redis.call('HINCRBY', KEYS[9], ARGV[i], ARGV[i + 1]) end
  else
    local added = write(hashes[key] and 'HSET' or 'ZADD', KEYS[key], section)
    if added > 0 and section.counter ~= '' then redis.call('HINCRBY', checkpoints, section.counter, added) end
  end
end

redis.call('HSET', checkpoints, ARGV[2], ARGV[4])
if isActive then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
return {'applied'}
