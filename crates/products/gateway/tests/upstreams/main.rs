//! Upstreams of every kind, good and bad: over HTTP+SSE and WebSocket, as child processes that end, as endpoints that lose
//! their session, and one bad one among several.

#![expect(clippy::unwrap_used, reason = "a test that cannot begin fails")]

mod children;
mod churn;
mod egress;
mod ids;
mod lists;
mod over_stdio;
mod recorded;
mod sandbox;
mod scene;
mod scripted;
mod sessions;
mod transports;
