//! Several gateways with one store: a real `redis-server` that is stopped, killed, emptied and cut off, and gateways that are
//! killed and stopped in mid-call.

mod cache;
mod chaos;
mod idempotency;
mod ledger;
mod random;
mod redis;
mod scene;
