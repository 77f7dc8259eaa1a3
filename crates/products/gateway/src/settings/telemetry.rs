//! Where spans go, and which. Values only.

use net::HttpAddress;

/// Spans of requests, sent by OTLP over HTTP.
#[derive(Clone, PartialEq)]
pub struct TelemetrySettings {
    /// The collector, with the whole path.
    pub otlp: HttpAddress,
    /// `service.name` of the spans.
    pub service_name: String,
    /// Which requests have spans.
    pub sample: Sample,
}

/// Which requests have spans.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sample {
    /// As the client's trace says; all without a trace.
    #[default]
    Parent,
    /// This share of all traces, from 0 to 1, whatever the client says.
    Ratio(f64),
}

impl TelemetrySettings {
    /// The name of the service where the settings have none.
    pub const SERVICE: &str = "proof-gateway";

    /// All requests to this collector.
    pub fn new(otlp: HttpAddress) -> Self {
        Self { otlp, service_name: Self::SERVICE.to_owned(), sample: Sample::default() }
    }
}

impl std::fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The headers may hold credentials.
        f.debug_struct("TelemetrySettings").field("service_name", &self.service_name).finish_non_exhaustive()
    }
}
