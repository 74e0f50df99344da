--[[ read: looks up entries in the sets of one generation, with the proof of an absence, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] the sets to read
  ARGV[1] their names, each followed by NUL
  ARGV[2] lookups, each value followed by a space: kind; index into KEYS[4..], from 1; two numbers; what stands before an id
          in the name of a stream or of an entry: which of ARGV[3..], from 1, 0 for nothing
          member: id and 0    page: the id after which it begins, and its maximum size
          any: the first and the last id, of documents or in fields that are names of streams
          range: the first id of a page of a keyed set, and its maximum size; what stands before an id: the beginnings of the entries,
          each followed by NUL
          entry: an id in a keyed set and the next one; the beginnings that an entry may have    count: 0 and 0; the beginning
          size: 0 and 0
          owner: 0 and 0: the member or the field that has the name of the stream of the last document before
          field: which of ARGV[3..], from 1, and 0
  ARGV[3..] fields of hashes, and what stands before ids
  Returns few long texts, which are the cheapest for the client to read: {state, completeness, result of each lookup, ...}
          The error WRONGTYPE, if KEYS[2], KEYS[3] or a set is of another type
          state, separated by NUL: name of the active generation or '', then fields and values of checkpoints in turn
          completeness: for each of KEYS[4..] 1 if it has the size recorded for it, else 0
          found: the member as it is or nil; the value of the field or nil; 1 if there is any of the ids, else nil; of a page, separated by commas: how many members,
          a space, the id of the last where there are more or -; then the JSON texts; of a damaged range ?; of an entry the JSON
          or nil; a number ]]
local names = {}
for name in string.gmatch(ARGV[1], '[^%z]+') do names[#names + 1] = name end
local isHash = {rows = true, keys = true, history = true, parked = true, waiting = true}
local complete = #names > 0 and redis.call('HMGET', KEYS[3], unpack(names)) or {}
local hasSizes = redis.call('EXISTS', KEYS[3]) == 1 or redis.call('EXISTS', KEYS[2]) == 0 -- no such generation
for set, recorded in ipairs(complete) do
  local actual = redis.call(isHash[names[set]] and 'HLEN' or 'ZCARD', KEYS[set + 3])
  complete[set] = hasSizes and tostring(actual) == (recorded or '0') and 1 or 0 -- as text: Lua takes 1e3 for a number
end

local find, document = {}, false
function find.member(set, id)
  document = redis.call('ZRANGE', KEYS[set + 3], id, id, 'BYSCORE')[1] or false
  return document
end
function find.owner(set, _, _, prefix)
  if not document then return false end
  local owner = string.match(document, '%z(.*)$')
  if not owner then return false end
  if isHash[names[set]] then return redis.call('HGET', KEYS[set + 3], owner) end
  if string.sub(owner, 1, #prefix) ~= prefix then return false end
  local id = string.sub(owner, #prefix + 1)
  local isId = string.find(id, '^[1-9]%d*$') and (#id < 16 or #id == 16 and id <= '9007199254740991')
  return isId and redis.call('ZRANGE', KEYS[set + 3], id, id, 'BYSCORE')[1] or false
end
function find.field(set, number) return redis.call('HGET', KEYS[set + 3], ARGV[2 + number]) end
function find.any(set, first, last, prefix)
  local key = KEYS[set + 3]
  if not isHash[names[set]] then return redis.call('ZCOUNT', key, first, last) > 0 and '1' end
  if redis.call('HLEN', key) == 0 then return false end
  for id = tonumber(first), tonumber(last) do
    if redis.call('HEXISTS', key, prefix .. string.format('%.0f', id)) == 1 then return '1' end
  end
  return false
end
local function pageOf(texts, last)
  table.insert(texts, 1, #texts .. ' ' .. last)
  return table.concat(texts, ',')
end
function find.page(set, after, limit)
  limit = tonumber(limit)
  local texts = redis.call('ZRANGE', KEYS[set + 3], '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, limit + 1)
  local count, last = #texts, '-'
  if count > limit then
    texts[count] = nil
    count = limit
    last = string.match(texts[count], '^{"id":(%d+)') or '?' -- damaged, as the caller sees
  end
  if not string.find(names[set], ':', 1, true) then -- not an index, but a collection
    for i = 1, count do texts[i] = string.sub(texts[i], 1, (string.find(texts[i], '\0', 1, true) or 0) - 1) end
  end
  return pageOf(texts, last)
end

local function entryId(beginning, id) return beginning .. string.sub('0000000000000000', #id + 1) .. id end
-- The next entry of a range of a keyed set, `size` are read at once. An entry without the id of its JSON is damaged.
local function step(range, size)
  if range.at == #range.entries and not range.isRead then
    range.entries = redis.call('ZRANGE', range.key, range.from, range.to, 'BYLEX', 'LIMIT', 0, size)
    range.from, range.at = '(' .. (range.entries[size] or ''), 0
    range.isRead = #range.entries < size
  end
  range.at = range.at + 1
  local entry = range.entries[range.at]
  if not entry then return true end
  local id, place = string.match(entry, '^0*([1-9]%d*)(){"id":%1[,}]', range.json - 16)
  range.id, range.number = id, tonumber(id)
  return place == range.json
end
function find.range(set, first, limit, beginnings)
  limit = tonumber(limit)
  local ranges = {}
  for beginning in string.gmatch(beginnings, '([^%z]*)%z') do
    ranges[#ranges + 1] = {
      key = KEYS[set + 3], from = '[' .. entryId(beginning, first), to = '(' .. beginning .. ':', json = #beginning + 17,
      entries = {}, at = 0,
    }
  end
  local size = math.ceil((limit + 1) / #ranges)
  for i = #ranges, 1, -1 do
    if not step(ranges[i], size) then return '?' end
    if not ranges[i].entries[ranges[i].at] then table.remove(ranges, i) end
  end
  local texts, last = {}, '-'
  while #ranges > 0 do
    local lowest = 1
    for i = 2, #ranges do
      if ranges[i].number < ranges[lowest].number then lowest = i end
    end
    local range = ranges[lowest]
    if #texts == limit then return pageOf(texts, last) end
    last = range.id
    texts[#texts + 1] = string.sub(range.entries[range.at], range.json)
    if not step(range, size) then return '?' end
    if not range.entries[range.at] then table.remove(ranges, lowest) end
  end
  return pageOf(texts, '-')
end
function find.entry(set, id, next, beginnings)
  for beginning in string.gmatch(beginnings, '([^%z]*)%z') do
    local from, to = '[' .. entryId(beginning, id), '(' .. entryId(beginning, next)
    local entry = redis.call('ZRANGE', KEYS[set + 3], from, to, 'BYLEX', 'LIMIT', 0, 1)[1]
    if entry then return string.sub(entry, #beginning + 17) end
  end
  return false
end
function find.count(set, _, _, beginning)
  return tostring(redis.call('ZLEXCOUNT', KEYS[set + 3], '[' .. beginning, '(' .. beginning .. ':'))
end
function find.size(set) return tostring(redis.call('ZCARD', KEYS[set + 3])) end

local reply = {'', table.concat(complete)}
for what, set, a, b, before in string.gmatch(ARGV[2], '(%a+) (%d+) (%d+) (%d+) (%d+)') do
  reply[#reply + 1] = find[what](tonumber(set), a, b, before == '0' and '' or ARGV[2 + before])
end
local state = redis.call('HGETALL', KEYS[2])
local active = redis.pcall('HGET', KEYS[1], 'name') -- of another type it names none
table.insert(state, 1, type(active) == 'string' and active or '')
reply[1] = table.concat(state, '\0')
return reply
