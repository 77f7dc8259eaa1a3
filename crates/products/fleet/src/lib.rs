//! The command center for many MCP servers: what `fleet.yaml` lists, gates computed by running `proof`, stages computed from
//! gates, and what to do next. Judges nothing itself: a gate reads the report of a child process.

pub mod child;
pub mod columns;
pub mod compute;
pub mod config;
pub mod configured;
pub mod dates;
pub mod digest;
pub mod evidence;
pub mod files;
pub mod filter;
pub mod gate;
pub mod gates;
pub mod imported;
pub mod keeping;
pub mod launch;
pub mod next;
pub mod repository;
pub mod run;
pub mod secret;
pub mod show;
pub mod state;
pub mod ui;
pub mod webhooks;
pub mod words;
