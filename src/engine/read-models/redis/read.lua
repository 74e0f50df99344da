--[[ read: looks up entries in the sets of one generation, with the proof of an absence, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] the sets to read
  ARGV[1] their names, each followed by NUL
  ARGV[2] lookups, each value followed by a space: kind; index into KEYS[4..], from 1; two numbers; what stands before an id
          in the name of a stream: which of ARGV[3..], from 1, 0 for nothing
          member: id and 0    page: the id after which it begins, and its maximum size
          any: the first and the last id, of documents or in fields that are names of streams
          owner: 0 and 0: the member or the field that has the name of the stream of the last document before
          field: which of ARGV[3..], from 1, and 0
  ARGV[3..] fields of hashes, and what stands before ids
  Returns few long texts, which are the cheapest for the client to read: {state, completeness, result of each lookup, ...}
          The error WRONGTYPE, if KEYS[2], KEYS[3] or a set is of another type
          state, separated by NUL: name of the active generation or '', then fields and values of checkpoints in turn
          completeness: for each of KEYS[4..] 1 if it has the size recorded for it, else 0
          found: the member as it is or nil; the value of the field or nil; 1 if there is any of the ids, else nil; of a page, separated by commas: how many members,
          a space, the id of the last where there are more or -; then the JSON texts ]]
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
  table.insert(texts, 1, count .. ' ' .. last)
  return table.concat(texts, ',')
end

local reply = {'', table.concat(complete)}
for what, set, a, b, before in string.gmatch(ARGV[2], '(%a+) (%d+) (%d+) (%d+) (%d+)') do
  reply[#reply + 1] = find[what](tonumber(set), a, b, before == '0' and '' or ARGV[2 + before])
end
local state = redis.call('HGETALL', KEYS[2])
local active = redis.pcall('HGET', KEYS[1], 'name') -- of another type it names none
table.insert(state, 1, type(active) == 'string' and active or '')
reply[1] = table.concat(state, '\0')
return reply
