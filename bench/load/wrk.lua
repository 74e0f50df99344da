--[[ wrk -s wrk.lua URL -- METHOD PATHS_FILE [BODY]: sends the paths of the file, one a line, in turn.
  A line may hold a body of its own behind a tab.
  Ends its output with one line of JSON. Headers come by wrk's own -H. ]]
local requests, at = {}, 0

function init(args)
  for line in io.lines(args[2]) do
    local path, body = string.match(line, '^(%S+)\t?(.*)$')
    requests[#requests + 1] = wrk.format(args[1], path, nil, body ~= '' and body or args[3])
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"errors":{"refused connections":%d,"failed reads":%d,' ..
      '"failed writes":%d,"statuses above 399":%d,"timeouts":%d}}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout
  ))
end
