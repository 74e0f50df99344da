--[[ look: what is stored of the active generation and of the one being built, at one moment.
  KEYS[1] active, hash    KEYS[2] building, hash
  KEYS[3] checkpoints of the active generation, hash    KEYS[4] its sizes, hash; any keys if there is none
  KEYS[5] checkpoints of the one being built, hash; any key if there is none
  KEYS[6..] the sets with the sizes in KEYS[4], hashes and sorted sets    ARGV[1..] the type that each should have
  Returns {{name, log id, what it continues} of the active one, {name, log id} of the one being built,
          {field, value, ...} of KEYS[3], the same of KEYS[4], the same of KEYS[5], {size of KEYS[6], ...}};
          name is nil if there is none; nil for KEYS[3], KEYS[4] or KEYS[5] of another type, and -1 for such a set. By the names and the fields of KEYS[4] the caller sees whether KEYS are the right ones ]]
local function ofItsType(...)
  local found = redis.pcall(...)
  return not (type(found) == 'table' and found.err) and found
end
local sizes = {}
for i = 6, #KEYS do sizes[i - 5] = ofItsType(ARGV[i - 5] == 'hash' and 'HLEN' or 'ZCARD', KEYS[i]) or -1 end
return {
  ofItsType('HMGET', KEYS[1], 'name', 'epoch', 'continues') or {false, false, false},
  ofItsType('HMGET', KEYS[2], 'name', 'epoch') or {false, false},
  ofItsType('HGETALL', KEYS[3]),
  ofItsType('HGETALL', KEYS[4]),
  ofItsType('HGETALL', KEYS[5]),
  sizes,
}
