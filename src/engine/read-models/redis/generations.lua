--[[ generations: the existing generations, at one moment.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set
  Returns {{name, log id, since} of the active one, the same of the one being built, {name, since, ...} of those replaced};
          for the first two, name is nil if there is none. What is of another type counts as missing ]]
local function found(...)
  local reply = redis.pcall(...)
  return reply.err and {} or reply
end
return {
  found('HMGET', KEYS[1], 'name', 'epoch', 'since'),
  found('HMGET', KEYS[2], 'name', 'epoch', 'since'),
  found('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES'),
}
