--[[ generations: the existing generations, at one moment.
  KEYS[1] active, hash    KEYS[2] building, hash    KEYS[3] replaced, sorted set
  Returns {{name, log id, since} of the active one, the same of the one being built, {name, since, ...} of those replaced};
          for the first two, name is nil if there is none ]]
return {
  redis.call('HMGET', KEYS[1], 'name', 'epoch', 'since'),
  redis.call('HMGET', KEYS[2], 'name', 'epoch', 'since'),
  redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES'),
}
