//! Answers that are used again: calls with an idempotency key run once, results are cached, and neither reaches another
//! principal or another server.

mod cache;
mod ends;
mod errors;
mod idempotency;
mod interceptors;
mod locks;
mod looker;
mod restarts;
mod scene;
