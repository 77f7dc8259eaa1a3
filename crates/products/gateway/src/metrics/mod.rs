//! What Prometheus reads besides the counters of requests: refused clients, and how long each tool takes. Must not know how a
//! request is answered.

mod page;
mod security;
mod tools;

pub(crate) use self::page::{Page, escaped};
pub(crate) use self::security::{AuthFailure, Foreign, Security};
pub(crate) use self::tools::{ToolTimes, is_failed};
