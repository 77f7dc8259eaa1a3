//! `telemetry`: what is read, and what is refused.

use super::{FULL, SECRET, mentions, refuses, settings, upstream};
use crate::settings::{Sample, TelemetrySettings};

fn file(members: &str) -> String {
    format!("{}telemetry: {{ {members} }}\n", upstream("command: [x]"))
}

fn read(members: &str) -> TelemetrySettings {
    settings(&file(members)).telemetry.expect("telemetry")
}

#[test]
fn telemetry_is_read() {
    let telemetry = settings(FULL).telemetry.expect("telemetry");
    assert_eq!(telemetry.otlp.url.as_str(), "https://collector.example/v1/traces");
    assert_eq!(telemetry.otlp.headers, [("Api-Key".to_owned(), SECRET.to_owned())]);
    assert_eq!((telemetry.service_name.as_str(), telemetry.sample), ("tools", Sample::Ratio(0.1)));
    assert!(!format!("{telemetry:?}").contains(SECRET));
    let usual = read("otlp: 'http://127.0.0.1:4318'");
    assert_eq!(usual.otlp.url.as_str(), "http://127.0.0.1:4318/v1/traces");
    assert_eq!((usual.service_name.as_str(), usual.sample), ("proof-gateway", Sample::Parent));
    assert_eq!(read("otlp: 'http://x/other/path'").otlp.url.as_str(), "http://x/other/path");
    assert_eq!(read("otlp: 'http://x', sample: parent").sample, Sample::Parent);
    assert_eq!(read("otlp: 'http://x', sample: 1").sample, Sample::Ratio(1.0));
    assert_eq!(settings(&upstream("command: [x]")).telemetry, None);
}

#[test]
fn telemetry_is_checked() {
    refuses(
        &file("sample: 0.5"),
        "error: `telemetry` has no `otlp` – etc/gateway.yaml:3:1\n  try: otlp: http://127.0.0.1:4318",
    );
    for url in ["grpc://x", "x", "'http://me:s3cr3t-value@x'"] {
        mentions(&file(&format!("otlp: {url}")), &["`otlp` is not an http or https URL", "headers"]);
    }
    for sample in ["1.5", "-1", "always", "[1]"] {
        let parts = ["`sample` is neither `parent` nor a share", "a number from 0 to 1"];
        mentions(&file(&format!("otlp: 'http://x', sample: {sample}")), &parts);
    }
    mentions(&file("otlp: 'http://x', ca: c.pem"), &["`ca` needs an https `otlp`"]);
    mentions(&file("otlp: 'http://x', headers: { 'a b': c }"), &["the header name `a b` is invalid"]);
    mentions(&file("oltp: 'http://x'"), &["the key `oltp` is unknown here", "otlp"]);
}
