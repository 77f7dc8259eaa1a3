//! Records in a text that is almost JSON: truncated, nested too deep, in a fence, one a line, as a program prints them. They cannot be
//! dropped one by one, so it is only said whether the text names another tenant. Pure.

use std::borrow::Cow;

use guard::invisible::has_byte;

use super::records::Tenant;

/// The longest name that is compared, in bytes.
const LONGEST: usize = 256;

/// Whether a member in quotes names another tenant than the client's.
pub(super) fn names_another(text: &str, tenant: &Tenant<'_>) -> bool {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    if !has_byte(text, |byte| is_quote(&byte) || byte == b'\\') {
        return false;
    }
    let text = unescaped(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(open) = bytes.get(at..).and_then(|rest| rest.iter().position(is_quote)) {
        let start = at + open + 1;
        at = start;
        let rest = text.get(start..).unwrap_or_default();
        let name = word(rest);
        if tenant.is_named_by(name) && is_of_another(rest.get(name.len()..).unwrap_or_default(), tenant) {
            return true;
        }
    }
    false
}

/// A text in quotes, up to whatever may end it.
fn word(rest: &str) -> &str {
    let end = rest.bytes().take(LONGEST).position(|byte| matches!(byte, b'"' | b'\'' | b'\\'));
    end.and_then(|end| rest.get(..end)).unwrap_or_default()
}

/// Whether what follows a name says that its value is another tenant.
fn is_of_another(after: &str, tenant: &Tenant<'_>) -> bool {
    let quotes = |c| matches!(c, '"' | '\'' | '\\');
    let after = after.trim_start_matches(quotes).trim_start();
    let Some(value) = after.strip_prefix("=>").or_else(|| after.strip_prefix([':', '='])) else { return false };
    let value = value.trim_start();
    let inner = value.trim_start_matches(quotes);
    let named = if inner.len() < value.len() {
        inner.split(quotes).next()
    } else {
        inner.split(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | ')' | ';')).next()
    };
    named != tenant.own
}

/// The text without escapes of characters that JSON has.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("\\u");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        if let Some(c) = code {
            out.push(c);
            out.push_str(part.get(4..).unwrap_or_default());
        } else {
            out.push_str("\\u");
            out.push_str(part);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{Tenant, names_another};

    #[test]
    fn only_the_clients_own_tenant_may_be_named() {
        let fields = ["tenant_id".to_owned()];
        let tenant = Tenant { fields: &fields, own: Some("a") };
        for text in [
            r#"{"tenant_id":"b""#,
            r#"{"tenant_id" : "ab"}x"#,
            r#"{\"tenant_id\": \"b\"}"#,
            "{'tenant_id': 'b'}",
            "{'tenant_id' => 'b'}",
            r#"{"tenant_id":"a"} {"TenantId":7,"#,
            r#"{"tenant_id":null,"#,
            r#"{"tenant_id":["a"],"#,
            r#"{"tenant\u005fid":"b"}x"#,
            r#"{"tenant_id":"#,
        ] {
            assert!(names_another(text, &tenant), "{text}");
        }
        for text in [
            r#"{"tenant_id":"a","n":NaN}"#,
            "{'tenant_id': 'a'} {'tenant_id':'a'}",
            r#"{\"tenant_id\":\"a\"}"#,
            r#"the member "tenant_id" names the tenant"#,
            r#"{"other":"b""#,
            "no quotes: tenant_id: b",
        ] {
            assert!(!names_another(text, &tenant), "{text}");
        }
        assert!(names_another(r#"{"tenant_id":"a""#, &Tenant { fields: &fields, own: None }));
        assert!(!names_another(r#"{"tenant_id":7 "#, &Tenant { fields: &fields, own: Some("7") }));
    }
}
