--[[ load-partition: the state of some streams and idempotency keys of a partition, at one moment.
  KEYS[1] checkpoints, hash    KEYS[2] the home collection, sorted set    KEYS[3] rows, hash    KEYS[4] keys, hash
  KEYS[5] parked, hash    KEYS[6] parked queue, sorted set
  ARGV[1] partition    ARGV[2] for each stream the id of the document that can show it, or 0, with spaces
  ARGV[3..] three lists, each its number of arguments and then these: streams, fields of KEYS[4], and streams whose
          parked events are all requested
  Returns {checkpoint or '', members, rows, parked, decided, queues}; or nil if the generation is gone
          members: of KEYS[2] for each id or '', with two NULs in between
          rows, decided: for each stream or key its value or nil; empty if there are none at all
          parked: for each stream 1 if it has parked events, else 0
          queues: for each stream its {field, parked event, ...}, in order of offset ]]
local logId, checkpoint = unpack(redis.call('HMGET', KEYS[1], 'epoch', ARGV[1]))
if not logId then return false end

local members = {}
for id in string.gmatch(ARGV[2], '%d+') do
  members[#members + 1] = redis.call('ZRANGE', KEYS[2], id, id, 'BYSCORE')[1] or ''
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
local function queueRange(stream)
  local prefix = #stream .. ':' .. stream
  return '[' .. prefix, '(' .. prefix .. ':' -- a digit is less than a colon
end
local function queueOf(stream)
  local events, min, max = {}, queueRange(stream)
  for _, member in ipairs(redis.call('ZRANGE', KEYS[6], min, max, 'BYLEX')) do
    local offset, partition = string.match(string.sub(member, #min), '^0*(%d+)/(%d+)$') -- min is [ and the prefix
    local field = partition .. '/' .. offset
    local event = redis.call('HGET', KEYS[5], field)
    if event then
      events[#events + 1] = field
      events[#events + 1] = event
    end
  end
  return events
end

local first, last = nextList()
local rows, parked = lookUp(KEYS[3], first, last), {}
for i = first, redis.call('ZCARD', KEYS[6]) > 0 and last or 0 do
  parked[#parked + 1] = redis.call('ZLEXCOUNT', KEYS[6], queueRange(ARGV[i])) > 0 and 1 or 0
end
local decided = lookUp(KEYS[4], nextList())
local queues = {}
first, last = nextList()
for i = first, last do queues[#queues + 1] = queueOf(ARGV[i]) end
return {checkpoint or '', table.concat(members, '\0\0'), rows, table.concat(parked), decided, queues}
