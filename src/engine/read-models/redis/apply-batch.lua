--[[ apply-batch: applies one batch of one partition if its checkpoint is the expected one. O(log n) per member.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] checkpoints, hash    KEYS[4] sizes, hash
  KEYS[5] rows    KEYS[6] keys    KEYS[7] history    KEYS[8] parked    KEYS[9] waiting: the five sets of texts, hashes
  KEYS[10..] first the collections of ARGV[9], then the sets that the batch changes, sorted sets; KEYS[3..] all of one
          generation
  ARGV[1] generation    ARGV[2] partition    ARGV[3] expected checkpoint, '' for none stored    ARGV[4] new checkpoint
  ARGV[5] progress channel    ARGV[6] progress message
  ARGV[7] new streams, a JSON array, or ''    ARGV[8] of those whose document is not among the new ones,
          with spaces: which of ARGV[9] has the document, its id, which of ARGV[7] it is, each from 1, with colons
  ARGV[9] the names of the collections whose documents show streams, with spaces
  ARGV[10] number of documents as they will be    ARGV[11] id, JSON and what is behind it of each, each text followed by NUL
  ARGV[12] number of documents as they were    ARGV[13] the same of each    ARGV[14] how many are in both, the first of each;
          the others of ARGV[11] are new, those of a collection together and in order of id
  ARGV[15..] for each of the sets that change: its name; for each document of ARGV[11] 1 if it is to be added, else 0; for each of
          ARGV[13] 1 if it is to be removed, else 0. For a keyed set: for each entry that is added the place of its document in ARGV[11],
          from 1, and the beginning of the entry, each followed by NUL; the same of ARGV[13] for each that is removed
  ARGV[..] two lists for each of KEYS[5..9], each its number of arguments and then these: fields and values to set, fields
          to remove
  Returns {'applied'}; or, having written nothing, {'generation_gone'}, {'later'}, {'checkpoint_mismatch'}, {'incomplete'} or
          {'exist', {stream, ...}, {collection, id, ...}}; or the error WRONGTYPE, if another of KEYS than the first two has
          another type ]]
local checkpoints, sizes, rows = unpack(KEYS, 3, 5)
local parked = KEYS[8]
local names = {'rows', 'keys', 'history', 'parked', 'waiting'}
local textSets = {unpack(names)}
for name in string.gmatch(ARGV[9], '[^ ]+') do names[#names + 1] = name end
local firstSet = 5 + #names
local setCount = #KEYS - firstSet + 1

local active, paused = unpack(redis.pcall('HMGET', KEYS[1], 'name', 'paused')) -- of another type it names none
local isActive = active == ARGV[1]
if not isActive and redis.pcall('HGET', KEYS[2], 'name') ~= ARGV[1] then return {'generation_gone'} end
local logId, stored = unpack(redis.call('HMGET', checkpoints, 'epoch', ARGV[2]))
if not logId then return {'generation_gone'} end
paused = paused and tonumber(paused)
if isActive and paused then
  local time = redis.call('TIME')
  local pausedMs = time[1] * 1000 + math.floor(time[2] / 1000) - paused
  if pausedMs >= 0 and pausedMs < 1000 then return {'later'} end
end
if (stored or '') ~= ARGV[3] or stored == '' then return {'checkpoint_mismatch'} end
if redis.call('EXISTS', sizes) == 0 then return {'incomplete'} end

for set = 1, setCount do names[#names + 1] = ARGV[12 + 3 * set] end
for i, recorded in ipairs(redis.call('HMGET', sizes, unpack(names))) do
  local isHash = i <= #textSets
  local actual = redis.call(isHash and 'HLEN' or 'ZCARD', KEYS[4 + i])
  -- As text: Lua takes 1e3 for a number, and HINCRBY would then fail in the middle.
  if tostring(actual) ~= (recorded or '0') then return {'incomplete'} end
end

-- Ids stay text throughout: Lua would write those above 10^14 in scientific notation.
local function documentsIn(count, text)
  local ids, jsons, members, from = {}, {}, {}, 1
  for first = 0, count - 1, 500 do -- Lua's stack holds fewer than 8000 results of one call
    local n = math.min(500, count - first)
    local fields = {struct.unpack(string.rep('sss', n), text, from)}
    for i = 1, n do
      local json = fields[3 * i - 1]
      ids[first + i], jsons[first + i] = fields[3 * i - 2], json
      members[first + i] = json .. '\0' .. fields[3 * i]
    end
    from = fields[3 * n + 1]
  end
  return {ids = ids, jsons = jsons, members = members}
end
local function changesOf(set)
  local name, added, removed = unpack(ARGV, 12 + 3 * set, 14 + 3 * set)
  return KEYS[firstSet - 1 + set], name, added, removed, not string.find(name, ':', 1, true) -- a collection, not an index
end
local documents = documentsIn(tonumber(ARGV[10]), ARGV[11])
local ids = documents.ids

local existing = {}
for set = 1, setCount do
  local key, name, added, _, isCollection = changesOf(set)
  local first, last = string.find(added, '1+', tonumber(ARGV[14]) + 1)
  -- One lookup of the whole range replaces one per id, if no other partition has ids in between.
  if isCollection and first and redis.call('ZCOUNT', key, ids[first], ids[last]) > 0 then
    for i = first, last do
      if redis.call('ZCOUNT', key, ids[i], ids[i]) > 0 then
        existing[#existing + 1] = name
        existing[#existing + 1] = ids[i]
      end
    end
  end
end

local known, newStreams = {}, nil
for set, id, place in string.gmatch(ARGV[8], '(%d+):(%d+):(%d+)') do
  if redis.call('ZCOUNT', KEYS[9 + set], id, id) > 0 then
    newStreams = newStreams or cjson.decode(ARGV[7])
    known[#known + 1] = newStreams[tonumber(place)]
  end
end
for _, key in ipairs({rows, parked}) do
  if ARGV[7] ~= '' and redis.call('HLEN', key) > 0 then
    newStreams = newStreams or cjson.decode(ARGV[7])
    for first = 1, #newStreams, 2000 do -- Lua's stack holds fewer than 8000 arguments of one call
      local last = math.min(first + 1999, #newStreams)
      for i, text in ipairs(redis.call('HMGET', key, unpack(newStreams, first, last))) do
        if text then known[#known + 1] = newStreams[first + i - 1] end
      end
    end
  end
end
if #existing > 0 or #known > 0 then return {'exist', known, existing} end

local function grow(field, by)
  if by ~= 0 then redis.call('HINCRBY', sizes, field, by) end
end
local function write(command, key, args, first, last)
  local changed = 0
  for i = first, last, 2000 do -- Lua's stack holds fewer than 8000 arguments of one call
    changed = changed + redis.call(command, key, unpack(args, i, math.min(i + 1999, last)))
  end
  return changed
end

local function eachMarked(marks, call)
  local place = string.find(marks, '1', 1, true)
  while place do
    call(place)
    place = string.find(marks, '1', place + 1, true)
  end
end
local before = documentsIn(tonumber(ARGV[12]), ARGV[13])
local function changeById(key, added, removed, kind)
  local texts, gone = before[kind], {}
  eachMarked(removed, function(i) gone[#gone + 1] = texts[i] end)
  write('ZREM', key, gone, 1, #gone)
  local new, n = {}, 0
  texts = documents[kind]
  eachMarked(added, function(i)
    new[n + 1], new[n + 2] = ids[i], texts[i]
    n = n + 2
  end)
  write('ZADD', key, new, 1, n)
  return n / 2 - #gone
end
local function eachEntry(list, of, call)
  for place, beginning in string.gmatch(list, '(%d+)%z([^%z]*)%z') do
    local i = tonumber(place)
    call(beginning .. string.sub('0000000000000000', #of.ids[i] + 1) .. of.ids[i] .. of.jsons[i])
  end
end
local function changeKeyed(key, added, removed)
  local gone, new = {}, {}
  eachEntry(removed, before, function(entry) gone[#gone + 1] = entry end)
  write('ZREM', key, gone, 1, #gone)
  eachEntry(added, documents, function(entry)
    new[#new + 1] = 0
    new[#new + 1] = entry
  end)
  write('ZADD', key, new, 1, #new)
  return #new / 2 - #gone
end
for set = 1, setCount do
  local key, name, added, removed, isCollection = changesOf(set)
  if string.find(name, '^[^:]*:[^:]*=$') then grow(name, changeKeyed(key, added, removed))
  else grow(name, changeById(key, added, removed, isCollection and 'members' or 'jsons')) end
end

local at = 15 + 3 * setCount
local function writeList(command, key)
  local first = at + 1
  at = first + tonumber(ARGV[at])
  return write(command, key, ARGV, first, at - 1), at - first
end
for i, name in ipairs(textSets) do
  local new = writeList('HSET', KEYS[4 + i]) -- those that replace a text are not counted
  local _, removed = writeList('HDEL', KEYS[4 + i])
  grow(name, new - removed)
end

redis.call('HSET', checkpoints, ARGV[2], ARGV[4])
if isActive then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
return {'applied'}
