--[[ scan-set: some entries of a set, at one moment.
  KEYS[1] active, hash    KEYS[2] checkpoints, hash    KEYS[3] the set: a hash, or a sorted set of documents
  ARGV[1] where to continue: a cursor of HSCAN, the lowest score, or the lowest entry of a keyed set; '' to begin
  ARGV[2] their number, approximately    ARGV[3] for a hash, ends after this many bytes of text
  ARGV[4] 'keyed' if it is a keyed set, whose entries all have one score: each is told as an id, with '' for its text
  Returns {name of the active generation or '', {field, value, ...} of checkpoints, where to continue or '' at the end,
          {id, text, ...}}; or nil if the generation is gone ]]
if redis.call('EXISTS', KEYS[2]) == 0 then return false end
local from, limit, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local next, items, bytes = '', {}, 0
local function add(id, text)
  items[#items + 1] = id
  items[#items + 1] = text
  bytes = bytes + #text
end

if redis.call('TYPE', KEYS[3]).ok == 'hash' then
  local cursor = from == '' and '0' or from
  for _ = 1, limit do
    local found
    cursor, found = unpack(redis.call('HSCAN', KEYS[3], cursor, 'COUNT', 1)) -- usually one entry, which may be large
    for i = 1, #found, 2 do add(found[i], found[i + 1]) end
    if cursor == '0' or bytes >= most then break end
  end
  if cursor ~= '0' then next = cursor end
elseif ARGV[4] == 'keyed' then
  local lowest = string.gsub(from, '%%(%x%x)', function(byte) return string.char(tonumber(byte, 16)) end)
  local found = redis.call('ZRANGE', KEYS[3], from == '' and '-' or lowest, '+', 'BYLEX', 'LIMIT', 0, limit)
  for _, entry in ipairs(found) do add(entry, '') end
  -- Any bytes may be in an entry, and only those of printable ASCII come back as they are.
  local function escaped(byte) return string.format('%%%02x', string.byte(byte)) end
  if #found == limit then next = '(' .. string.gsub(found[limit], '[^ -$&-~]', escaped) end
else
  local lowest = from == '' and '-inf' or from
  local found = redis.call('ZRANGE', KEYS[3], lowest, '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  for i = 1, #found, 2 do add(found[i + 1], found[i]) end
  if #found == 2 * limit then next = '(' .. found[#found] end
end
local active = redis.pcall('HGET', KEYS[1], 'name')
return {type(active) == 'string' and active or '', redis.call('HGETALL', KEYS[2]), next, items}
