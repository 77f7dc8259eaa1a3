//! `slo`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, mentions, settings, upstream};
use crate::settings::{SloSettings, ToolClass};

fn file(members: &str) -> String {
    format!("{}slo: {members}\n", upstream("command: [x]"))
}

#[test]
fn slo_is_read() {
    let slo = settings(FULL).slo.expect("slo");
    assert!((slo.objective - 0.995).abs() < 1e-9, "{slo:?}");
    assert_eq!((slo.read, slo.moderate), (Duration::from_millis(300), Duration::from_secs(2)));
    let [(name, tool)] = slo.tools.as_slice() else { panic!("{slo:?}") };
    assert_eq!(
        (name.as_str(), tool.within, tool.class),
        ("render_*", Some(Duration::from_secs(8)), Some(ToolClass::Write))
    );
    assert_eq!(settings(&file("")).slo, Some(SloSettings::default()));
    assert_eq!(settings(&upstream("command: [x]")).slo, None);
}

#[test]
fn slo_is_checked() {
    for objective in ["100%", "0.99", "99", "49%", "many%"] {
        mentions(&file(&format!("{{ objective: {objective} }}")), &["`objective` is not a percentage", "99%"]);
    }
    mentions(&file("{ read: 500 }"), &["`500` has no unit"]);
    mentions(&file("{ reads: 1s }"), &["the key `reads` is unknown here", "read"]);
    mentions(&file("{ tools: { x: {} } }"), &["the objective of `x` sets nothing", "within"]);
    mentions(&file("{ tools: { x: { class: fast } } }"), &["`fast` is not a class of tools"]);
}
