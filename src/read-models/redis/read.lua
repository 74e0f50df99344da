--[[ read: looks up things in the sets of one generation, with what proves an absence, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] sizes, hash    KEYS[4..] the sets that are looked into
  ARGV[1] for each of KEYS[4..], with a NUL in between: h for a hash, c for a collection, i for an index, which are sorted
          sets, and behind it the field of KEYS[3]
  ARGV[2] looks, each with a space behind it: what for; which of KEYS[4..], from 1; two numbers
          member: id and 0    page: the id to begin behind, and how many at most
          field and exists: which of ARGV[3..], from 1, and 0
  ARGV[3..] fields of hashes
  Returns few and long texts, as they cost the client least to read: {state, completeness, what each look found, ...}
          state, separated by NUL: name of the active generation or '', then fields and values of checkpoints in turn
          completeness: for each of KEYS[4..] 1 if it has the size recorded for it, else 0
          found: the member as it is or nil; the value of the field, or '' if it is enough that it exists, or nil; of a
          page, separated by commas: how many members, a space, the id of the last where there are more or -; then the JSON
          texts ]]
local kinds, fields = {}, {}
for kind, field in string.gmatch(ARGV[1], '(%a)([^%z]+)') do
  kinds[#kinds + 1], fields[#fields + 1] = kind, field
end
local complete = #fields > 0 and redis.call('HMGET', KEYS[3], unpack(fields)) or {}
for set, recorded in ipairs(complete) do
  local actual = redis.call(kinds[set] == 'h' and 'HLEN' or 'ZCARD', KEYS[set + 3])
  complete[set] = actual == tonumber(recorded or 0) and 1 or 0
end

local state = redis.call('HGETALL', KEYS[2])
local find = {}
function find.member(key, _, id) return redis.call('ZRANGE', key, id, id, 'BYSCORE')[1] or false end
function find.field(key, _, number) return redis.call('HGET', key, ARGV[2 + number]) end
function find.exists(key, _, number) return redis.call('HEXISTS', key, ARGV[2 + number]) == 1 and '' end
function find.page(key, kind, after, limit)
  limit = tonumber(limit)
  local texts = redis.call('ZRANGE', key, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, limit + 1)
  local count, last = #texts, '-'
  if count > limit then
    texts[count] = nil
    count = limit
    last = string.match(texts[count], '^{"id":(%d+)')
  end
  for i = 1, kind == 'c' and count or 0 do texts[i] = string.sub(texts[i], 1, string.find(texts[i], '\0', 1, true) - 1) end
  table.insert(texts, 1, count .. ' ' .. last)
  return table.concat(texts, ',')
end

local reply = {'', table.concat(complete)}
for what, set, a, b in string.gmatch(ARGV[2], '(%a+) (%d+) (%d+) (%d+)') do
  set = tonumber(set)
  reply[#reply + 1] = find[what](KEYS[set + 3], kinds[set], a, b)
end
table.insert(state, 1, redis.call('HGET', KEYS[1], 'name') or '')
reply[1] = table.concat(state, '\0')
return reply
