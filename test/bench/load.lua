-- Sends prepared requests. Arguments: the mode, and a file of whole requests with a NUL between them.
--   cycle  repeats them in order
--   once   sends each at most once
--   chain  each answer has the refresh token of a further request
-- When the requests run out, it asks for a path that does not exist, which fails the round.

local items, head, tail, mode = {}, 1, 0, ''
local before, after = '', ''
local exhausted = 'GET /out-of-requests HTTP/1.1\r\nHost: localhost\r\n\r\n'

function init(args)
  mode = args[1]
  local file = assert(io.open(args[2], 'rb'))
  for item in file:read('*a'):gmatch('[^%z]+') do
    tail = tail + 1
    items[tail] = item
  end
  file:close()
  -- The last parameter of that name, in a form or in JSON.
  if mode == 'chain' then before, after = items[1]:match('^(.*refresh_?[tT]oken[=":]+)[^&"]+(.*)$') end
  if mode ~= 'chain' then response = nil end
end

function request()
  local item = items[head]
  if item == nil then return exhausted end
  if mode ~= 'cycle' then items[head] = nil end
  head = head + 1
  if mode == 'cycle' and head > tail then head = 1 end
  return item
end

function response(status, headers, body)
  local token = body:match('"refresh_?[tT]oken":"([^"]+)"')
  if token == nil then return end
  tail = tail + 1
  items[tail] = before .. token .. after
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"refused":%d,"broken":%d,"late":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write, errors.timeout
  ))
end
