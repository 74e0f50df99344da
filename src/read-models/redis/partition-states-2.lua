--[[ partition-states-2: the checkpoints of some partitions and the subjects parked in them, at one moment.
  KEYS[1] checkpoints, hash    KEYS[2] parked subjects, sorted set
  ARGV[1..] partitions
  Returns for each partition {checkpoint or '', {'<partition>/<subject>', ...}}; or nil where the generation is gone ]]
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local states = {}
for i, partition in ipairs(ARGV) do
  states[i] = {
    redis.call('HGET', KEYS[1], partition) or '',
    redis.call('ZRANGE', KEYS[2], '[' .. partition .. '/', '(' .. partition .. '0', 'BYLEX'), -- '0' follows '/' in ASCII
  }
end
return states
