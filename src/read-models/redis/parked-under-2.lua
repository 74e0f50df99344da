--[[ parked-under-2: what is parked under one subject. O(log n) and what it returns.
  KEYS[1] parked, hash    KEYS[2] parked offsets, sorted set
  ARGV[1] <partition>    ARGV[2] <subject>
  Returns {offset, parked event, ...}, in no order ]]
local prefix = ARGV[1] .. '/' .. ARGV[2] .. '/'
local upper = '(' .. string.sub(prefix, 1, -2) .. '0' -- '0' follows '/' in ASCII
local parked = {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[2], '[' .. prefix, upper, 'BYLEX')) do
  local offset = string.sub(member, #prefix + 1)
  -- Of subject 'a' the prefix is that of 'a/b' too, whose 'b/<offset>' is in no field.
  local event = redis.call('HGET', KEYS[1], ARGV[1] .. '/' .. offset)
  if event then
    parked[#parked + 1] = offset
    parked[#parked + 1] = event
  end
end
return parked
