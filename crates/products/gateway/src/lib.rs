//! A gateway: many MCP servers behind one address. Each client speaks its own revision and each server its own; what crosses
//! is translated as text and otherwise passes byte for byte. It judges nothing and knows no rules.

pub mod access;
mod answers;
pub mod audit;
mod bridge;
pub mod budget;
mod catalogue;
mod changes;
pub mod config;
mod consents;
mod context;
mod credentials;
pub mod failure;
mod gateway;
mod guards;
mod hub;
mod ids;
mod inputs;
mod interceptors;
mod kept_tasks;
mod long_calls;
mod losses;
mod metrics;
mod outputs;
mod pages;
mod parked;
pub mod recording;
mod relay;
mod result_kind;
mod sanitize;
pub mod search;
mod session;
pub mod settings;
mod shaping;
mod shared;
mod slo;
mod stats;
mod telemetry;
mod traffic;
mod upstream;
mod view;

pub use hub::{Endpoint, Entrance, Gateway, Reloaded, SettingsError};
pub use losses::Losses;
pub use pages::Pages;
pub use stats::Stats;
pub use view::ShownItem;
