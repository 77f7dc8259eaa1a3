//! The reference server over a memory link and over real HTTP. Everything it sends is held against the official schema of
//! its revision where `../shared` is present.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may give up loudly, and says what it skipped")]

mod ask;
mod asking;
mod both_ends;
mod catalogue;
mod features;
mod files;
mod frames;
mod http;
mod legacy;
mod line_client;
mod malformed;
mod models;
mod modern;
mod oauth;
mod official;
mod old_sse;
mod order;
mod schema;
mod serf;
mod stdio;
mod subscriptions;
mod tasks;
mod tasks_http;
mod tasks_modern;
mod websocket;
mod wire_http;
mod yaml;
