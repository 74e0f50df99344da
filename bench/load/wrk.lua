--[[ wrk -s wrk.lua URL -- METHOD PATHS_FILE [BODY]: sends the paths of the file, one a line, in turn.
  A line may hold a body of its own behind a tab; with an empty one, its path is asked for by GET.
  WRK_PORTS names the port of each thread, on the host of URL: by default all use that of URL.
  Ends its output with one line of JSON. Headers come by wrk's own -H. ]]
local requests, at = {}, 0
local ports = string.gmatch(os.getenv('WRK_PORTS') or '', '%d+')

function setup(thread)
  local port = ports()
  if port then thread.addr = wrk.lookup(wrk.host, port)[1] end
end

function init(args)
  for line in io.lines(args[2]) do
    local path, tab, body = string.match(line, '^(%S+)(\t?)(.*)$')
    local method = (tab ~= '' and body == '') and 'GET' or args[1]
    requests[#requests + 1] = wrk.format(method, path, nil, body ~= '' and body or args[3])
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
