--[[ find-in-set: the entries of a set with some ids, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] the set: a hash, or a sorted set of documents
  ARGV[1..] ids
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, {text or nil, ...}}; or nil where the
          generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local isSorted = redis.call('TYPE', KEYS[3]).ok == 'zset'
local texts = {}
for i, id in ipairs(ARGV) do
  if isSorted then
    texts[i] = redis.call('ZRANGE', KEYS[3], id, id, 'BYSCORE')[1] or false
  else
    texts[i] = redis.call('HGET', KEYS[3], id)
  end
end
return {redis.call('HGET', KEYS[1], 'name') or '', redis.call('HGETALL', KEYS[2]), texts}
