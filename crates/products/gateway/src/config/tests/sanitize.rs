//! `sanitize`: what is read, and what is refused.

use super::{FULL, mentions, settings, upstream};
use crate::settings::{Instructions, Personal, SanitizeSettings, TenantRecords};

fn file(sanitize: &str) -> String {
    format!("{}sanitize:{sanitize}\n", upstream("command: [x]"))
}

#[test]
fn what_is_removed_is_read() {
    let tenants = Some(TenantRecords { fields: vec!["tenant_id".to_owned()], claim: "org".to_owned() });
    let expected = SanitizeSettings {
        secrets: false,
        personal: Personal::ALL.to_vec(),
        tenants,
        instructions: Some(Instructions::Withhold),
        result_bytes: 2 << 20,
        text_bytes: Some(64 << 10),
        ..SanitizeSettings::default()
    };
    assert_eq!(settings(FULL).sanitize, Some(expected));
    for text in ["", " {}"] {
        assert_eq!(settings(&file(text)).sanitize, Some(SanitizeSettings::default()));
    }
    assert_eq!(settings(&upstream("command: [x]")).sanitize, None);
}

#[test]
fn what_is_removed_is_checked() {
    mentions(&file(" { pii: true }"), &["the key `pii` is unknown here"]);
    mentions(&file(" { personal: [mail] }"), &["`mail` is no kind of personal data"]);
    mentions(&file(" { hidden: 1 }"), &["`hidden` is a number, not true or false"]);
    mentions(
        &file(" { instructions: drop }"),
        &["`drop` does not say what becomes of instructions", "mark or withhold"],
    );
    mentions(&file(" { result_bytes: 10 }"), &["is out of range", "1KiB to 64MiB"]);
    mentions(&file(" { tenants: {} }"), &["`tenants` names no field", "`tenants` needs tokens"]);
    mentions(&file(" { tenants: { fields: [] } }"), &["`fields` does not have 1 to 16 names"]);
}
