//! What the store does with users' consents in one step. A consent is a field of one hash; its first 16 bytes say which writing
//! of it it is. What comes after them is encrypted.

/// `KEYS`: the consents. `ARGV`: name, value, the most consents. Returns whether there was room.
pub(super) const GIVE: &str = "
if not redis.call('HGET', KEYS[1], ARGV[1]) and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1";

/// `KEYS`: the consents, who renews this one. `ARGV`: name, the writing that is replaced (any one if it is empty), the new value
/// (empty to end the consent), who replaces it. Returns whether it was that one.
pub(super) const REPLACE: &str = "
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or (ARGV[2] ~= '' and string.sub(held, 1, 16) ~= ARGV[2]) then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
if redis.call('HGET', KEYS[2], 'o') == ARGV[4] then redis.call('DEL', KEYS[2]) end
return 1";

/// `KEYS`: the consents, who renews this one. `ARGV`: name, the writing that is renewed, who asks, for how long. Returns 0 where it is
/// theirs, 1 where another one renews it, and 2 where there is another writing, or none.
pub(super) const LEASE: &str = "
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.sub(held, 1, 16) ~= ARGV[2] then return 2 end
local owner = redis.call('HGET', KEYS[2], 'o')
if owner and owner ~= ARGV[3] then return 1 end
redis.call('HSET', KEYS[2], 'o', ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 0";

/// `KEYS`: who renews. `ARGV`: who gives up.
pub(super) const RELEASE: &str = "
if redis.call('HGET', KEYS[1], 'o') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

/// `KEYS`: the newest link of a user and server, a new link. `ARGV`: the new link's id and what it is for, both encrypted; for how
/// long it works. Returns the id of the newest one while half of its time is left; an empty text for the new one.
pub(super) const ASK: &str = "
local newest = redis.call('HGET', KEYS[1], 'v')
if newest then return newest end
redis.call('HSET', KEYS[1], 'v', ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[3] / 2))
redis.call('HSET', KEYS[2], 'p', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return ''";

/// `KEYS`: a link, a request. `ARGV`: the request's name, the request, for how long it counts, what stands before names of
/// requests. The request before counts no more. Returns whether the link works.
pub(super) const SEND: &str = "
if not redis.call('HGET', KEYS[1], 'p') then return 0 end
local before = redis.call('HGET', KEYS[1], 'q')
if before then redis.call('DEL', ARGV[4] .. before) end
redis.call('HSET', KEYS[1], 'q', ARGV[1])
redis.call('HSET', KEYS[2], 'r', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1";

/// `KEYS`: a request. Returns it, once.
pub(super) const TAKE: &str = "
local request = redis.call('HGET', KEYS[1], 'r')
redis.call('DEL', KEYS[1])
return request or ''";

/// `KEYS`: a link. `ARGV`: the name of its request. Returns what it is for where the request is its newest; that counts no more.
pub(super) const RETURN: &str = "
if redis.call('HGET', KEYS[1], 'q') ~= ARGV[1] then return '' end
redis.call('HDEL', KEYS[1], 'q')
return redis.call('HGET', KEYS[1], 'p') or ''";
