//! Several gateways with one store: a real `redis-server` that is stopped, killed, emptied and cut off, and gateways that are
//! killed and stopped in mid-call.

mod asker;
mod cache;
mod chaos;
mod clock;
mod forwarding;
mod idempotency;
mod invariants;
mod ledger;
mod limits;
mod nginx;
mod ports;
#[path = "../chaos/random.rs"]
mod random;
mod recording;
mod redis;
mod scene;
mod session;
