--[[ load-partition-7: what is known of some streams and idempotency keys of a partition, at one moment.
  KEYS[1] checkpoints, hash    KEYS[2] the home collection, sorted set    KEYS[3] rows, hash    KEYS[4] parked streams, hash
  KEYS[5] keys, hash    KEYS[6] parked, hash    KEYS[7] parked queue, sorted set
  ARGV[1] partition    ARGV[2] ids of documents, with spaces
  ARGV[3..] three lists, each its number of arguments and then these: streams, fields of KEYS[5], and streams of which all
          is wanted that is parked
  Returns {checkpoint or '', members, rows, parked, decided, queues}; or nil where the generation is gone
          members: of KEYS[2] for each id or '', with two NULs in between
          rows: {which stream, from 1, row, ...} of those that have one    parked: {which stream, number of events, ...}
          decided: {which key, record, ...}    queues: for each its {field, parked event, ...}, in order of offset ]]
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
  if first > last or redis.call('HLEN', key) == 0 then return found end
  for from = first, last, 2000 do -- Lua's stack holds fewer than 8000 arguments of one call
    local values = redis.call('HMGET', key, unpack(ARGV, from, math.min(from + 1999, last)))
    for i = 1, #values do
      if values[i] then
        found[#found + 1] = tostring(from + i - first)
        found[#found + 1] = values[i]
      end
    end
  end
  return found
end
local function queueOf(stream)
  local prefix, events = stream .. '\0', {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[7], '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. '\1', 'BYLEX')) do
    -- More follows than these two where the stream is another one, with a NUL in its name.
    local offset, partition = string.match(string.sub(member, #prefix + 1), '^0*(%d+)/(%d+)$')
    local field = offset and partition .. '/' .. offset
    local event = field and redis.call('HGET', KEYS[6], field)
    if event then
      events[#events + 1] = field
      events[#events + 1] = event
    end
  end
  return events
end

local first, last = nextList()
local rows, parked = lookUp(KEYS[3], first, last), lookUp(KEYS[4], first, last)
local decided = lookUp(KEYS[5], nextList())
local queues = {}
first, last = nextList()
for i = first, last do queues[#queues + 1] = queueOf(ARGV[i]) end
return {checkpoint or '', table.concat(members, '\0\0'), rows, parked, decided, queues}
