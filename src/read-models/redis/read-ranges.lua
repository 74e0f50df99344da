--[[ read-ranges: some ranges of one generation's documents and indexes, with what proves an absence, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3..] documents and indexes, sorted sets
  ARGV[1] length of the tag at the end of a member of KEYS[3], which are the documents; members of the others have none
  ARGV[2] for each range, separated by spaces: which of KEYS[3..], from 1; lowest id; highest id; how many at most
  Returns few and long texts, as they cost the client least to read: {state, ranges, members of the first range, ...}
          state, separated by NUL: name of the active generation or '', then fields and values of checkpoints in turn
          ranges, for each, separated by spaces: how many members, the id of the last where there are more or -, size of the set
          members: joined by commas, without tags ]]
local tag = -tonumber(ARGV[1]) - 1
local reply, ranges = {'', ''}, {}
for set, from, to, limit in string.gmatch(ARGV[2], '(%d+) (%S+) (%S+) (%d+)') do
  set, limit = tonumber(set), tonumber(limit)
  local key = KEYS[set + 2]
  local members = redis.call('ZRANGE', key, from, to, 'BYSCORE', 'LIMIT', 0, limit + 1)
  local last = '-'
  if #members > limit then
    members[#members] = nil
    last = redis.call('ZSCORE', key, members[limit])
  end
  if set == 1 then
    for i = 1, #members do members[i] = string.sub(members[i], 1, tag) end
  end
  reply[#reply + 1] = table.concat(members, ',')
  ranges[#ranges + 1] = #members .. ' ' .. last .. ' ' .. redis.call('ZCARD', key)
end
local state = redis.call('HGETALL', KEYS[2])
table.insert(state, 1, redis.call('HGET', KEYS[1], 'name') or '')
reply[1], reply[2] = table.concat(state, '\0'), table.concat(ranges, ' ')
return reply
