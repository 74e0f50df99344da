--[[ load-partition: the state of some streams and idempotency keys of a partition, at one moment.
  KEYS[1] checkpoints, hash    KEYS[2] the home collection, sorted set    KEYS[3] rows, hash    KEYS[4] parked, hash
  KEYS[5] keys, hash    KEYS[6] waiting, hash
  ARGV[1] partition    ARGV[2] for each stream the id of the document that can show it, or 0, with spaces
  ARGV[3..] three lists, each its number of arguments and then these: streams, fields of KEYS[5], fields of KEYS[6]
  Returns {checkpoint or nil, members, rows, parked, decided, waiting}; or nil if the generation is gone
          members: of KEYS[2] for each id or '', with two NULs in between; '?' for an empty one, which is damaged
          the others: for each stream or field its value or nil; empty if there are none at all ]]
local logId, checkpoint = unpack(redis.call('HMGET', KEYS[1], 'epoch', ARGV[1]))
if not logId then return false end

local members = {}
for id in string.gmatch(ARGV[2], '%d+') do
  local member = redis.call('ZRANGE', KEYS[2], id, id, 'BYSCORE')[1]
  members[#members + 1] = member == '' and '?' or member or ''
end

local at = 3
local function nextList()
  local first = at + 1
  at = first + tonumber(ARGV[at])
  return first, at - 1
end
local function lookUp(key, first, last)
  local found = {}
  if redis.call('HLEN', key) == 0 then return found end
  for from = first, last, 2000 do -- Lua's stack holds fewer than 8000 arguments of one call
    for _, value in ipairs(redis.call('HMGET', key, unpack(ARGV, from, math.min(from + 1999, last)))) do
      found[#found + 1] = value
    end
  end
  return found
end

local first, last = nextList()
local rows, parked = lookUp(KEYS[3], first, last), lookUp(KEYS[4], first, last)
local decided = lookUp(KEYS[5], nextList())
local waiting = lookUp(KEYS[6], nextList())
return {checkpoint, table.concat(members, '\0\0'), rows, parked, decided, waiting}
