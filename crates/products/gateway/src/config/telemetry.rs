//! Reads where spans go: `telemetry`.

use document::{Content, Entry, quoted};
use net::HttpAddress;
use url::Url;

use super::Reader;
use crate::settings::{Sample, TelemetrySettings};

const MEMBERS: &[&str] = &["otlp", "service_name", "sample", "headers", "ca"];
/// Where a collector takes spans (OTLP 1.0, OTLP/HTTP request).
const PATH: &str = "/v1/traces";

impl Reader<'_> {
    pub(super) fn telemetry(&mut self, entry: &Entry) -> Option<TelemetrySettings> {
        let members = self.members("`telemetry`", entry.at, &entry.node, MEMBERS)?;
        let headers = members.get("headers").map(|entry| self.headers(entry)).unwrap_or_default();
        let ca = members.get("ca").and_then(|entry| self.path(entry));
        let Some(otlp) = members.get("otlp") else {
            if !members.has_unknown {
                self.error(entry.at, "`telemetry` has no `otlp`", "otlp: http://127.0.0.1:4318");
            }
            return None;
        };
        let url = self.collector(otlp)?;
        if let Some(entry) = members.get("ca").filter(|_| url.scheme() != "https") {
            self.error(entry.at, "`ca` needs an https `otlp`", "remove it, or change `otlp`");
        }
        let egress = Some(self.egress_to(&self.egress.clone(), &[(&url, otlp.at)]));
        let mut telemetry = TelemetrySettings::new(HttpAddress { headers, ca, egress, ..HttpAddress::new(url) });
        if let Some(entry) = members.get("service_name") {
            self.text(entry)?.clone_into(&mut telemetry.service_name);
        }
        if let Some(entry) = members.get("sample") {
            telemetry.sample = self.sample(entry)?;
        }
        Some(telemetry)
    }

    /// The address of a collector. Without a path, the usual one is added.
    fn collector(&mut self, entry: &Entry) -> Option<Url> {
        let text = self.text(entry)?;
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(mut url) = url.filter(|url| url.username().is_empty() && url.password().is_none()) else {
            let what = "`otlp` is not an http or https URL without a user name and a password";
            self.error(entry.at, what, "http://127.0.0.1:4318, and `headers` for what is secret");
            return None;
        };
        if url.path() == "/" {
            url.set_path(PATH);
        }
        Some(url)
    }

    fn sample(&mut self, entry: &Entry) -> Option<Sample> {
        let sample = match &entry.node.content {
            Content::Text(text) if text == "parent" => Some(Sample::Parent),
            Content::Number(number) => number.as_f64().filter(|ratio| (0.0..=1.0).contains(ratio)).map(Sample::Ratio),
            _ => None,
        };
        if sample.is_none() {
            let what = format!("{} is neither `parent` nor a share of all traces", quoted(&entry.key));
            self.error(entry.at, what, "parent, or a number from 0 to 1 such as 0.1");
        }
        sample
    }
}
