--[[ read: looks up entries in the sets of one generation, with the proof of an absence, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] the sets to read
  ARGV[1] their names, each followed by NUL
  ARGV[2] lookups, each value followed by a space: kind; index into KEYS[4..], from 1; two numbers; what stands before an id
          in the name of a stream or of an entry: which of ARGV[3..], from 1, 0 for nothing
          member: id and 0    page: the id after which it begins, and its maximum size
          any: the first and the last id, of documents or in fields that are names of streams
          owner: 0 and 0: the member or the field that has the name of the stream of the last document before
          size: 0 and 0: of a set of documents
          range, a page of a keyed set: its lowest id and its maximum size; entry: an id and the next one; count: 0 and 0, how many
          entries. What stands before ids: what the entries may begin with, each followed by NUL; for a count one alone, without it
          field: which of ARGV[3..], from 1, and 0
  ARGV[3..] fields of hashes, and what stands before ids
  Returns few long texts, which are the cheapest for the client to read: {state, completeness, result of each lookup, ...}
          The error WRONGTYPE, if KEYS[2], KEYS[3] or a set is of another type
          state, separated by NUL: name of the active generation or '', then fields and values of checkpoints in turn
          completeness: for each of KEYS[4..] 1 if it has the size recorded for it, else 0
          found: the member as it is or nil; the value of the field or nil; 1 if there is any of the ids, else nil; the JSON of
          the entry or nil; a number; of a page, separated by commas: how many members, a space, the id of the last where there
          are more or -; then the JSON texts; ? of a range with an entry that has not the id of its JSON ]]
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
-- To the next entry of a range of a keyed set, of which `size` are read at once. One without the id of its JSON gets none.
local function advance(range)
  if range.at == #range.entries and not range.isRead then
    range.entries = redis.call('ZRANGE', range.key, range.from, range.to, 'BYLEX', 'LIMIT', 0, range.size)
    range.isRead = #range.entries < range.size
    range.from, range.at = '(' .. (range.entries[range.size] or ''), 0
  end
  range.at = range.at + 1
  local entry = range.entries[range.at]
  if entry then
    local id, behind = string.match(entry, '^0*([1-9]%d*)(){"id":%1[,}]', range.json - 16)
    range.id = behind == range.json and id
    range.number = range.id and tonumber(id) or 0
  end
  range.entry = entry
end
local function lowestOf(ranges)
  local lowest
  for i = 1, #ranges do
    local range = ranges[i]
    if range.entry and (not lowest or range.number < lowest.number) then lowest = range end
  end
  return lowest
end
function find.range(set, first, limit, beginnings)
  local ranges, texts, last = {}, {}, '-'
  for beginning in string.gmatch(beginnings, '([^%z]*)%z') do
    local from, to = '[' .. entryId(beginning, first), '(' .. beginning .. ':'
    ranges[#ranges + 1] = {key = KEYS[set + 3], from = from, to = to, json = #beginning + 17, entries = {}, at = 0}
  end
  local size = math.min(limit + 1, math.ceil(2 * (limit + 1) / #ranges)) -- another read costs more than some entries too many
  for i = 1, #ranges do
    ranges[i].size = size
    advance(ranges[i])
  end
  for i = 1, tonumber(limit) do
    local range = lowestOf(ranges)
    if not range then return pageOf(texts, '-') end
    if not range.id then return '?' end
    texts[i], last = string.sub(range.entry, range.json), range.id
    advance(range)
  end
  return pageOf(texts, lowestOf(ranges) and last or '-')
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
