//! Several gateways with one store: a real `redis-server` that is stopped, killed, emptied and cut off, and gateways that are
//! killed and stopped in mid-call.

mod asker;
#[path = "../consents/browser.rs"]
mod browser;
mod cache;
mod chaos;
mod clock;
mod consents;
mod forwarding;
mod idempotency;
mod invariants;
mod ledger;
mod limits;
mod nginx;
mod ports;
#[expect(dead_code, reason = "other tests ask more of it")]
#[path = "../consents/provider.rs"]
mod provider;
#[path = "../chaos/random.rs"]
mod random;
mod recording;
mod redis;
mod scene;
mod session;
