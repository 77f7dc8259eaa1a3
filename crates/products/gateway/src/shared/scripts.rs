//! What the store does in one step. Times are the store's own: the clocks of gateways do not matter.

use redis::Cmd;

/// A command that runs a script on these keys.
pub(super) fn command(script: &str, keys: &[&[u8]]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(keys.len());
    for key in keys {
        command.arg(*key);
    }
    command
}

/// Which memory the store has: its name, and until when nobody takes a key. Another process (`ARGV[1]`) has another memory.
/// `ARGV`: run, a new name, grace. Returns name, milliseconds.
pub(super) const EPOCH: &str = "
local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)
local e = redis.call('HMGET', KEYS[1], 'id', 'run', 'opens')
if not e[1] or e[2] ~= ARGV[1] then
  e[1] = ARGV[2] e[3] = now + ARGV[3]
  redis.call('HSET', KEYS[1], 'id', e[1], 'run', ARGV[1], 'opens', e[3])
end
local left = tonumber(e[3]) - now
if left > tonumber(ARGV[3]) then
  left = tonumber(ARGV[3]) redis.call('HSET', KEYS[1], 'opens', now + left)
end
return {e[1], math.max(0, left)}";

/// `ARGV`: token, record, lease, keep, the name of the memory. Returns 0; or 1, token, record, whether it is leased; its step; or 2 and
/// for how long no key can be taken.
pub(super) const TAKE: &str = "
local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)
local h = redis.call('HMGET', KEYS[1], 't', 'r', 'l', 's')
if h[1] then return {1, h[1], h[2], tonumber(h[3]) > now and 1 or 0, tonumber(h[4])} end
local e = redis.call('HMGET', KEYS[2], 'id', 'opens')
if e[1] ~= ARGV[5] then return {2, 1000} end
if tonumber(e[2]) > now then return {2, tonumber(e[2]) - now} end
redis.call('HSET', KEYS[1], 't', ARGV[1], 'r', ARGV[2], 'l', now + ARGV[3], 's', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {0}";

/// `ARGV`: token, record, lease or 0, keep, grace, step. Of two tokens, the later step counts. While the store recovers, new
/// keys wait for what is still written.
pub(super) const PUT: &str = "
local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)
local h = redis.call('HMGET', KEYS[1], 't', 's')
local held, step = h[1], tonumber(h[2] or 0)
if held and held ~= ARGV[1] and step >= tonumber(ARGV[6]) then return 0 end
if held == ARGV[1] and step > tonumber(ARGV[6]) then return 1 end
local l = 0
if tonumber(ARGV[3]) > 0 then l = now + ARGV[3] end
redis.call('HSET', KEYS[1], 't', ARGV[1], 'r', ARGV[2], 'l', l, 's', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if not held then
  local opens = redis.call('HGET', KEYS[2], 'opens')
  if opens and tonumber(opens) > now then redis.call('HSET', KEYS[2], 'opens', now + ARGV[5]) end
end
return 1";

/// `ARGV`: the token and the record that are there, token, record, lease, keep, step.
pub(super) const GO_ON: &str = "
local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)
local h = redis.call('HMGET', KEYS[1], 't', 'r')
if h[1] ~= ARGV[1] or h[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 't', ARGV[3], 'r', ARGV[4], 'l', now + ARGV[5], 's', ARGV[7])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 1";

/// `ARGV`: token, record, keep.
pub(super) const BURY: &str = "
local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)
local h = redis.call('HMGET', KEYS[1], 't', 'l')
if h[1] ~= ARGV[1] then return 0 end
local l = tonumber(h[2])
if l == 0 or l > now then return 0 end
redis.call('HSET', KEYS[1], 'r', ARGV[2], 'l', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1";

/// `ARGV`: token.
pub(super) const FORGET: &str = "
if redis.call('HGET', KEYS[1], 't') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

/// `ARGV`: token, lease, keep. What was written off meanwhile stays so until its owner says how it ended.
pub(super) const RENEW: &str = "
local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)
local h = redis.call('HMGET', KEYS[1], 't', 'l')
if h[1] ~= ARGV[1] or tonumber(h[2]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'l', now + ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1";

/// Says where a gateway is. `ARGV`: its address, lease. Returns the time in milliseconds.
pub(super) const ANNOUNCE: &str = "
redis.call('HSET', KEYS[1], 'a', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000)";

/// Where a gateway is, if its lease is not over.
pub(super) const FIND: &str = "return redis.call('HGET', KEYS[1], 'a')";

/// A gateway ends.
pub(super) const LEAVE: &str = "return redis.call('DEL', KEYS[1])";

/// Takes requests from rates (GCRA, in microseconds since 2026). `ARGV`, for each key: the time of one request, how far ahead
/// requests may be, the most that is wanted. Returns 0 and how many of each; or 1, which key refuses, and for how long. After a clock
/// that went back, no request waits for longer than a burst takes.
pub(super) const RATES: &str = "
local t = redis.call('TIME') local now = (t[1] - 1767225600) * 1000000 + t[2]
local reply, until_then = {0}, {}
for i = 1, #KEYS do
  local each, ahead, most = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local taken = tonumber(redis.call('HGET', KEYS[i], 'u') or 0)
  taken = math.min(math.max(taken, now), now + ahead)
  local count = math.min(most, math.floor((now + ahead - taken) / each))
  if count < 1 then return {1, i - 1, math.ceil(taken + each - ahead - now)} end
  reply[i + 1], until_then[i] = count, taken + count * each
end
for i = 1, #KEYS do
  redis.call('HSET', KEYS[i], 'u', string.format('%.17g', until_then[i]))
  redis.call('PEXPIRE', KEYS[i], string.format('%.0f', math.ceil((until_then[i] - now) / 1000) + 1))
end
return reply";

/// Charges an account, which is pairs of a part and what was spent in it. `ARGV`: length of a part in microseconds, how many
/// parts count before the present one, the most that may be spent, the least and the most that is wanted. Near its end, an
/// account lends less. Returns 0, the amount, its part, what is left of that part; or 1, what is left, and when it is enough.
pub(super) const COST: &str = "
local t = redis.call('TIME') local now = (t[1] - 1767225600) * 1000000 + t[2]
local length, parts, allow = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local least, most = tonumber(ARGV[4]), tonumber(ARGV[5])
local part, spent, own, rest = math.floor(now / length), 0, 0, {}
for p, c in string.gmatch(redis.call('HGET', KEYS[1], 'p') or '', '(%d+) (%d+)') do
  p, c = tonumber(p), tonumber(c)
  if p + parts >= part and p <= part + parts then
    spent = spent + c
    if p == part then own = own + c elseif c > 0 then rest[#rest + 1] = {p, c} end
  end
end
local left = math.max(0, allow - spent)
if least > left then
  if own > 0 then rest[#rest + 1] = {part, own} end
  table.sort(rest, function(a, b) return a[1] < b[1] end)
  local sum, free = 0, part
  for _, one in ipairs(rest) do
    sum, free = sum + one[2], one[1]
    if sum >= least - left then break end
  end
  return {1, left, (free + parts + 1) * length - now}
end
local amount = math.min(left, most, math.max(least, math.floor(left / 8)))
local text = {string.format('%.0f %.0f', part, own + amount)}
for _, one in ipairs(rest) do text[#text + 1] = string.format('%.0f %.0f', one[1], one[2]) end
redis.call('HSET', KEYS[1], 'p', table.concat(text, ' '))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((parts + 2) * length / 1000)))
return {0, amount, part, (part + 1) * length - now}";

/// `ARGV`: a part, and how much of it was not spent.
pub(super) const RETURN: &str = "
local old = redis.call('HGET', KEYS[1], 'p')
if not old then return 0 end
local text = {}
for p, c in string.gmatch(old, '(%d+) (%d+)') do
  if tonumber(p) == tonumber(ARGV[1]) then c = string.format('%.0f', math.max(0, c - ARGV[2])) end
  text[#text + 1] = p .. ' ' .. c
end
redis.call('HSET', KEYS[1], 'p', table.concat(text, ' '))
return 1";

/// What stands in the place of a session that has ended.
pub(super) const ENDED: &str = "x";

/// Begins a session of a client's user. `ARGV`: keep. Returns 1; or 0 for one that was there and has ended now.
pub(super) const BEGIN_SESSION: &str = "
if redis.call('SET', KEYS[1], '0', 'NX', 'PX', ARGV[1]) then return 1 end
redis.call('SET', KEYS[1], 'x', 'KEEPTTL')
return 0";

/// `ARGV`: the number of a refresh token, and of the next one. Returns 1 where it was the newest one.
pub(super) const ADVANCE_SESSION: &str = "
local g = redis.call('GET', KEYS[1])
if not g or g == 'x' then return 0 end
if g ~= ARGV[1] then redis.call('SET', KEYS[1], 'x', 'KEEPTTL') return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1";

/// Ends a session, which stays known until its time is over.
pub(super) const END_SESSION: &str = "
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('SET', KEYS[1], 'x', 'KEEPTTL') end
return 1";
