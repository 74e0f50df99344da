--[[ parked-events-4: some of what is parked, at one moment. O(log n) and what it looks at.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] parked, hash    KEYS[4] parked queue, sorted set
  ARGV[1] the member to go on behind, or ''    ARGV[2] how many at most    ARGV[3] the bytes of events to end with
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, the member looked at last or '' at the end,
          {field, parked event, ...}}; or nil where the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local limit, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local events, bytes, last = {}, 0, ''
for i, member in ipairs(redis.call('ZRANGE', KEYS[4], from, '+', 'BYLEX', 'LIMIT', 0, limit)) do
  local offset, partition = string.match(member, '%z0*(%d+)/(%d+)$')
  local field = partition .. '/' .. offset
  local event = redis.call('HGET', KEYS[3], field)
  if event then
    events[#events + 1] = field
    events[#events + 1] = event
    bytes = bytes + #event
  end
  if i == limit or bytes >= most then
    last = member
    break
  end
end
return {redis.call('HGET', KEYS[1], 'name') or '', redis.call('HGETALL', KEYS[2]), last, events}
