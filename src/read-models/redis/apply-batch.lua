--[[ apply-batch: applies one batch of one partition if its checkpoint is the expected one. O(log n) a member.
  KEYS[1] checkpoints, hash    KEYS[2] documents, sorted set    KEYS[3] parked, hash    KEYS[4] parked subjects, sorted set
  KEYS[5] decisions, hash    KEYS[6..] the indexes that the batch adds to, sorted sets; all keys of one generation
  ARGV[1] partition    ARGV[2] expected checkpoint, '' for none stored    ARGV[3] new checkpoint
  ARGV[4] progress channel    ARGV[5] progress message    ARGV[6] length of the tag at the end of a documents member
  ARGV[7..] for each of KEYS[2..]: the checkpoints field that counts it ('' for none), the number of its arguments, then
            these: score and member for a sorted set, field and value for a hash, in turn
  Returns {'applied'}; or, having written nothing, {'generation_gone'}, {'checkpoint_mismatch'},
          {'keys_decided', key, ...} or {'ids_taken', id, its tag, ...} ]]
local checkpoints, documents, decisions = KEYS[1], KEYS[2], KEYS[5]
local hashes = {[3] = true, [5] = true}
if redis.call('EXISTS', checkpoints) == 0 then return {'generation_gone'} end
if (redis.call('HGET', checkpoints, ARGV[1]) or '') ~= ARGV[2] then return {'checkpoint_mismatch'} end

local sections = {}
local at = 7
for key = 2, #KEYS do
  local first = at + 2
  at = first + tonumber(ARGV[at + 1])
  sections[key] = {counter = ARGV[first - 2], first = first, last = at - 1}
end

-- Before the ids: a record that a decided key drops takes none.
local decided = {'keys_decided'}
for i = sections[5].first, sections[5].last, 2 do
  if redis.call('HEXISTS', decisions, ARGV[i]) == 1 then decided[#decided + 1] = ARGV[i] end
end
if #decided > 1 then return decided end

-- Ids stay text throughout: Lua would write those above 10^14 in scientific notation.
local taken = {'ids_taken'}
for i = sections[2].first, sections[2].last, 2 do
  local id = ARGV[i]
  if redis.call('ZCOUNT', documents, id, id) > 0 then
    local member = redis.call('ZRANGE', documents, id, id, 'BYSCORE', 'LIMIT', 0, 1)[1]
    taken[#taken + 1] = id
    taken[#taken + 1] = string.sub(member, -tonumber(ARGV[6]))
  end
end
if #taken > 1 then return taken end

-- Lua's stack holds fewer than 8000 arguments of one call.
local function write(command, key, first, last)
  local added = 0
  for from = first, last, 2000 do
    added = added + redis.call(command, key, unpack(ARGV, from, math.min(from + 1999, last)))
  end
  return added
end

for key = 2, #KEYS do
  local section = sections[key]
  local added = write(hashes[key] and 'HSET' or 'ZADD', KEYS[key], section.first, section.last)
  if added > 0 and section.counter ~= '' then redis.call('HINCRBY', checkpoints, section.counter, added) end
end
redis.call('HSET', checkpoints, ARGV[1], ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return {'applied'}
