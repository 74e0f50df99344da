--[[ apply-batch: applies one batch of one partition if its checkpoint is the expected one. O(log n) a member.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] checkpoints, hash    KEYS[4] documents, sorted set
  KEYS[5] decisions, hash    KEYS[6] parked, hash    KEYS[7] parked offsets, sorted set    KEYS[8] parked subjects, sorted set
  KEYS[9] counters, hash    KEYS[10..] the indexes that the batch adds to, sorted sets; KEYS[3..] all of one generation
  ARGV[1] generation    ARGV[2] partition    ARGV[3] expected checkpoint, '' for none stored    ARGV[4] new checkpoint
  ARGV[5] progress channel    ARGV[6] progress message    ARGV[7] length of the tag at the end of a documents member
  ARGV[8] number of inserts    ARGV[9] of each, in order of id, the id and the documents member, with a NUL behind either
  ARGV[10] the field of the checkpoints that counts the documents added
  ARGV[11..] for each of KEYS[10..]: the field that counts what is added to it; for each insert 1 if it holds it, else 0
  ARGV[..] lists, each its number of arguments and then these: fields and values to set in KEYS[5] and in KEYS[6], scores and
          members to add to KEYS[7] and to KEYS[8], fields of KEYS[9] and what to add to them, fields of KEYS[6] to remove,
          members of KEYS[8] to remove
  Returns {'applied'}; or, having written nothing, {'generation_gone'}, {'checkpoint_mismatch'},
          {'keys_decided', key, ...} or {'ids_taken', id, its tag, ...} ]]
local checkpoints, documents, decisions, parked = KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local isActive = redis.call('HGET', KEYS[1], 'name') == ARGV[1]
if not isActive and redis.call('HGET', KEYS[2], 'name') ~= ARGV[1] then return {'generation_gone'} end
local epoch, stored = unpack(redis.call('HMGET', checkpoints, 'epoch', ARGV[2]))
if not epoch then return {'generation_gone'} end
if (stored or '') ~= ARGV[3] then return {'checkpoint_mismatch'} end

local at = 11 + 2 * (#KEYS - 9)
local function nextList()
  local first = at + 1
  at = first + tonumber(ARGV[at])
  return {first = first, last = at - 1}
end
local decided, parkedEvents, parkedOffsets, parkedSubjects = nextList(), nextList(), nextList(), nextList()
local counters, unparked, freed = nextList(), nextList(), nextList()

-- Before the ids: a record that a decided key drops takes none.
local known = {'keys_decided'}
for i = decided.first, decided.last, 2 do
  if redis.call('HEXISTS', decisions, ARGV[i]) == 1 then known[#known + 1] = ARGV[i] end
end
if #known > 1 then return known end

-- Ids and members in turn. Ids stay text throughout: Lua would write those above 10^14 in scientific notation.
local inserts, count, from = {}, 2 * ARGV[8], 1
for first = 1, count, 2000 do -- Lua's stack holds fewer than 8000 results of one call
  local n = math.min(2000, count - first + 1)
  local texts = {struct.unpack(string.rep('s', n), ARGV[9], from)}
  for i = 1, n do inserts[first + i - 1] = texts[i] end
  from = texts[n + 1]
end

local taken = {'ids_taken'}
-- One look at all of the range spares a look for each id, where no other partition has ids in between.
local isFree = count == 0 or redis.call('ZCOUNT', documents, inserts[1], inserts[count - 1]) == 0
for i = 1, isFree and 0 or count, 2 do
  local id = inserts[i]
  if redis.call('ZCOUNT', documents, id, id) > 0 then
    local member = redis.call('ZRANGE', documents, id, id, 'BYSCORE', 'LIMIT', 0, 1)[1]
    taken[#taken + 1] = id
    taken[#taken + 1] = string.sub(member, -tonumber(ARGV[7]))
  end
end
if #taken > 1 then return taken end

-- Lua's stack holds fewer than 8000 arguments of one call.
local function write(command, key, args, first, last)
  local changed = 0
  for i = first, last, 2000 do
    changed = changed + redis.call(command, key, unpack(args, i, math.min(i + 1999, last)))
  end
  return changed
end
local function writeList(command, key, list) write(command, key, ARGV, list.first, list.last) end

-- Before what is parked anew.
for i = unparked.first, unparked.last do
  local event = redis.call('HGET', parked, ARGV[i])
  if event then
    local partition, offset = string.match(ARGV[i], '^(.*)/(.*)$')
    redis.call('ZREM', KEYS[7], partition .. '/' .. cjson.decode(event).subject .. '/' .. offset)
    redis.call('HDEL', parked, ARGV[i])
  end
end
writeList('ZREM', KEYS[8], freed)

writeList('HSET', decisions, decided)
writeList('HSET', parked, parkedEvents)
writeList('ZADD', KEYS[7], parkedOffsets)
writeList('ZADD', KEYS[8], parkedSubjects)
-- Two calls for all of them: a batch has a counter for each value that its events are counted by.
for first = counters.first, counters.last, 2000 do
  local last = math.min(first + 1999, counters.last)
  local names, changed = {}, {}
  for i = first, last, 2 do names[#names + 1] = ARGV[i] end
  for i, count in ipairs(redis.call('HMGET', KEYS[9], unpack(names))) do
    changed[2 * i - 1] = names[i]
    changed[2 * i] = string.format('%.0f', (count or 0) + ARGV[first + 2 * i - 1])
  end
  redis.call('HSET', KEYS[9], unpack(changed))
end

local function add(key, field, entries, n)
  local added = write('ZADD', key, entries, 1, n)
  if added > 0 then redis.call('HINCRBY', checkpoints, field, added) end
end
add(documents, ARGV[10], inserts, count)
local tag = -tonumber(ARGV[7]) - 1
for key = 10, #KEYS do
  local field, marks = ARGV[2 * key - 9], ARGV[2 * key - 8]
  local entries, n = {}, 0
  local place = string.find(marks, '1', 1, true)
  while place do
    entries[n + 1] = inserts[2 * place - 1]
    n = n + 2
    entries[n] = string.sub(inserts[2 * place], 1, tag)
    place = string.find(marks, '1', place + 1, true)
  end
  add(KEYS[key], field, entries, n)
end

redis.call('HSET', checkpoints, ARGV[2], ARGV[4])
if isActive then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
return {'applied'}
