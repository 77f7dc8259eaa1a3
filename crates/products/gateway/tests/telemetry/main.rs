//! What those who run a gateway see of it: its metrics and its spans, through real HTTP.

mod collector;
mod exposition;
mod metrics;
mod ready;
mod scene;
mod slo;
mod traces;
