//! What those who run a gateway see of it: its metrics, through real HTTP.

mod exposition;
mod metrics;
mod scene;
