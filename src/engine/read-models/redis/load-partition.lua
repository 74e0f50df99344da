--[[ load-partition: the state of some streams and idempotency keys of a partition, at one moment.
  KEYS[1] checkpoints, hash    KEYS[2] rows, hash    KEYS[3] parked, hash    KEYS[4] keys, hash    KEYS[5] waiting, hash
  KEYS[6..] the collections whose documents show streams, sorted sets
  ARGV[1] partition    ARGV[2] for each stream, followed by a space: of the document that can show it which of KEYS[6..], from
          1, and the id, with a colon in between; 1:0 if there is none
  ARGV[3..] three lists, each its number of arguments and then these: streams, fields of KEYS[4], fields of KEYS[5]
  Returns {checkpoint or nil, members, rows, parked, decided, waiting}; or nil if the generation is gone
          members: of KEYS[6..] for each stream or '', with two NULs in between; '?' for an empty one, which is damaged
          the others: for each stream or field its value or nil; empty if there are none at all ]]
local logId, checkpoint = unpack(redis.call('HMGET', KEYS[1], 'epoch', ARGV[1]))
if not logId then return false end

local members = {}
for set, id in string.gmatch(ARGV[2], '(%d+):(%d+)') do
  local member = redis.call('ZRANGE', KEYS[5 + set], id, id, 'BYSCORE')[1]
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
local rows, parked = lookUp(KEYS[2], first, last), lookUp(KEYS[3], first, last)
local decided = lookUp(KEYS[4], nextList())
local waiting = lookUp(KEYS[5], nextList())
return {checkpoint, table.concat(members, '\0\0'), rows, parked, decided, waiting}
