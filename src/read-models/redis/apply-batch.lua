--[[ apply-batch: applies one batch of one partition if its checkpoint is the expected one. O(log n) a member.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] checkpoints, hash    KEYS[4] sizes, hash
  KEYS[5] the home collection, sorted set    KEYS[6] rows, hash    KEYS[7] keys, hash    KEYS[8] parked, hash
  KEYS[9] parked queue, sorted set    KEYS[10] parked streams, hash
  KEYS[11..] the sets that the batch changes, sorted sets; KEYS[3..] all of one generation
  ARGV[1] generation    ARGV[2] partition    ARGV[3] expected checkpoint, '' for none stored    ARGV[4] new checkpoint
  ARGV[5] progress channel    ARGV[6] progress message
  ARGV[7] new streams, a JSON array, or ''    ARGV[8] ids of those whose document is not among the new ones, with spaces
  ARGV[9] where new documents are, separated by spaces: which of KEYS[11..], from 1; the first and the last place of a range
          of ARGV[11] in which they are in order of id
  ARGV[10] number of documents as they are to be    ARGV[11] id, JSON, version and row or '' of each, with a NUL behind each
  ARGV[12] number of documents as they were    ARGV[13] the same of each
  ARGV[14..] for each of KEYS[11..]: its name; by how much it grows; 1 if its members have version and row, else 0; for each
          document of ARGV[11] 1 if it is to be added, else 0; for each of ARGV[13] 1 if it is to be removed, else 0
  ARGV[..] lists, each its number of arguments and then these: fields and values to set in KEYS[6], fields of KEYS[6] to
          remove, fields and values to set in KEYS[7], then each in turn field and value of KEYS[8], member of KEYS[9], field
          of KEYS[10] to park, and the same without value to unpark
  Returns {'applied'}; or, having written nothing, {'generation_gone'}, {'later'}, {'checkpoint_mismatch'} or
          {'exist', {stream, ...}, {collection, id, ...}} ]]
local checkpoints, sizes, home, rows, keys = KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local parked, parkedQueue, parkedStreams = KEYS[8], KEYS[9], KEYS[10]

local active, paused = unpack(redis.call('HMGET', KEYS[1], 'name', 'paused'))
local isActive = active == ARGV[1]
if not isActive and redis.call('HGET', KEYS[2], 'name') ~= ARGV[1] then return {'generation_gone'} end
local logId, stored = unpack(redis.call('HMGET', checkpoints, 'epoch', ARGV[2]))
if not logId then return {'generation_gone'} end
if isActive and paused then
  local time = redis.call('TIME')
  local pausedMs = time[1] * 1000 + math.floor(time[2] / 1000) - paused
  if pausedMs >= 0 and pausedMs < 300 then return {'later'} end
end
if (stored or '') ~= ARGV[3] then return {'checkpoint_mismatch'} end

-- Ids stay text throughout: Lua would write those above 10^14 in scientific notation.
local function documentsIn(count, text)
  local ids, jsons, members, from = {}, {}, {}, 1
  for first = 0, count - 1, 500 do -- Lua's stack holds fewer than 8000 results of one call
    local n = math.min(500, count - first)
    local fields = {struct.unpack(string.rep('ssss', n), text, from)}
    for i = 1, n do
      local json, version, row = fields[4 * i - 2], fields[4 * i - 1], fields[4 * i]
      ids[first + i], jsons[first + i] = fields[4 * i - 3], json
      members[first + i] = row == '' and json .. '\0' .. version or json .. '\0' .. version .. '\0' .. row
    end
    from = fields[4 * n + 1]
  end
  return {ids = ids, jsons = jsons, members = members}
end
local documents = documentsIn(tonumber(ARGV[10]), ARGV[11])

local existing = {}
for set, first, last in string.gmatch(ARGV[9], '(%d+) (%d+) (%d+)') do
  local key, ids = KEYS[10 + set], documents.ids
  first, last = tonumber(first), tonumber(last)
  -- One look at all of the range spares a look for each id, where no other partition has ids in between.
  local isFree = redis.call('ZCOUNT', key, ids[first], ids[last]) == 0
  for i = first, isFree and 0 or last do
    if redis.call('ZCOUNT', key, ids[i], ids[i]) > 0 then
      existing[#existing + 1] = ARGV[9 + 5 * set]
      existing[#existing + 1] = ids[i]
    end
  end
end

local known = {}
for id in string.gmatch(ARGV[8], '%d+') do
  if redis.call('ZCOUNT', home, id, id) > 0 then known[#known + 1] = id end
end
local streams
for _, key in ipairs(ARGV[7] == '' and {} or {rows, parkedStreams}) do
  if redis.call('HLEN', key) > 0 then -- seldom
    streams = streams or cjson.decode(ARGV[7])
    for first = 1, #streams, 2000 do
      local found = redis.call('HMGET', key, unpack(streams, first, math.min(first + 1999, #streams)))
      for i = 1, #found do
        if found[i] then known[#known + 1] = streams[first + i - 1] end
      end
    end
  end
end
if #existing > 0 or #known > 0 then return {'exist', known, existing} end

-- Lua's stack holds fewer than 8000 arguments of one call.
local function write(command, key, args, first, last)
  local changed = 0
  for i = first, last, 2000 do
    changed = changed + redis.call(command, key, unpack(args, i, math.min(i + 1999, last)))
  end
  return changed
end
local function grow(field, by)
  if by ~= 0 then redis.call('HINCRBY', sizes, field, by) end
end

local function eachMarked(marks, call)
  local place = string.find(marks, '1', 1, true)
  while place do
    call(place)
    place = string.find(marks, '1', place + 1, true)
  end
end
local before = documentsIn(tonumber(ARGV[12]), ARGV[13])
for set = 1, #KEYS - 10 do
  local name, by, isWhole, added, removed = unpack(ARGV, 9 + 5 * set, 13 + 5 * set)
  local kind = isWhole == '1' and 'members' or 'jsons'
  local texts, args = before[kind], {}
  eachMarked(removed, function(i) args[#args + 1] = texts[i] end)
  write('ZREM', KEYS[10 + set], args, 1, #args)
  local ids, n = documents.ids, 0
  texts, args = documents[kind], {}
  eachMarked(added, function(i)
    args[n + 1], args[n + 2] = ids[i], texts[i]
    n = n + 2
  end)
  write('ZADD', KEYS[10 + set], args, 1, n)
  grow(name, tonumber(by))
end

local at = 14 + 5 * (#KEYS - 10)
local function nextList()
  local first = at + 1
  at = first + tonumber(ARGV[at])
  return first, at - 1
end
local first, last = nextList()
grow('rows', write('HSET', rows, ARGV, first, last))
first, last = nextList()
write('HDEL', rows, ARGV, first, last)
grow('rows', first - last - 1)
first, last = nextList()
write('HSET', keys, ARGV, first, last)
grow('keys', (last - first + 1) / 2)

local park, parkLast = nextList()
local unpark, unparkLast = nextList()
-- Before what is parked anew.
for i = unpark, unparkLast, 3 do
  redis.call('HDEL', parked, ARGV[i])
  redis.call('ZREM', parkedQueue, ARGV[i + 1])
  local left = redis.call('HINCRBY', parkedStreams, ARGV[i + 2], -1)
  if left <= 0 then redis.call('HDEL', parkedStreams, ARGV[i + 2]) end
  if left == 0 then grow('parked-streams', -1) end -- below 0 it was lost, which is to show
end
local new = (unpark - unparkLast - 1) / 3
for i = park, parkLast, 4 do
  if redis.call('HSET', parked, ARGV[i], ARGV[i + 1]) == 1 then -- else in place of the one before
    new = new + 1
    redis.call('ZADD', parkedQueue, 0, ARGV[i + 2])
    if redis.call('HINCRBY', parkedStreams, ARGV[i + 3], 1) == 1 then grow('parked-streams', 1) end
  end
end
grow('parked', new)
grow('parked-queue', new)

redis.call('HSET', checkpoints, ARGV[2], ARGV[4])
if isActive then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
return {'applied'}
