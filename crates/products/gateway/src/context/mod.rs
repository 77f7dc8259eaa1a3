//! What servers learn of the principal of a request: headers and members of `_meta`, from the claims of the validated
//! token alone. What clients send in its place is dropped. Must not know how a request reaches its server.

mod lookalike;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::server::http::{Grant, HeaderName, HeaderValue};
use net::service::RpcError;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use wire::splice::{Splice, member, members, members_at};

use crate::failure;
use crate::settings::{ContextKind, ContextSettings, ContextValue};

use self::lookalike::without;

/// What stands before our names in `_meta`.
const PREFIX: &str = "dev.proofhouse/";
/// The longest value, in bytes.
const LONGEST: usize = 1 << 10;

/// What is added to every request for one principal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Injected {
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Keys of `_meta` with their JSON texts.
    meta: Vec<(String, String)>,
    /// All keys, also those without a text: what looks like one is dropped.
    reserved: Vec<String>,
    /// Which upstreams are told; all without names.
    upstreams: Option<Vec<String>>,
}

impl fmt::Debug for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Who a principal is belongs into the audit log alone.
        f.write_str("Injected")
    }
}

impl Injected {
    /// What the token of a request says; the error where it lacks what servers must be told.
    pub(crate) fn of(settings: &ContextSettings, grant: Option<&Grant>) -> Result<Self, RpcError> {
        let (mut headers, mut meta, mut reserved) = (Vec::new(), Vec::new(), Vec::new());
        for value in &settings.values {
            let key = format!("{PREFIX}{}", value.kind.as_str());
            reserved.push(key.clone());
            let Some((text, of_meta)) = grant.and_then(|grant| read(value, grant)) else {
                if value.required {
                    let what = format!("The access token has no usable `{}`, which servers need", value.claim);
                    return Err(failure::CONTEXT_MISSING.error(what));
                }
                continue;
            };
            if let Some(name) = &value.header {
                let name = HeaderName::from_bytes(name.as_bytes()).ok();
                // Other letters have no one spelling in a header.
                let text = HeaderValue::from_str(&text).ok().filter(|_| text.is_ascii());
                let Some(header) = name.zip(text) else {
                    let what = format!("The claim `{}` of the access token cannot stand in a header", value.claim);
                    return Err(failure::CONTEXT_MISSING.error(what));
                };
                headers.push(header);
            }
            if value.meta {
                meta.push((key, of_meta.to_string()));
            }
        }
        Ok(Self { headers, meta, reserved, upstreams: settings.upstreams.clone() })
    }

    /// The same for one upstream: nothing of the principal where it is not to be told.
    pub(crate) fn for_upstream(self: &Arc<Self>, name: &str) -> Arc<Self> {
        if self.upstreams.as_ref().is_none_or(|names| names.iter().any(|told| told == name)) {
            return Arc::clone(self);
        }
        let (reserved, upstreams) = (self.reserved.clone(), self.upstreams.clone());
        Arc::new(Self { headers: Vec::new(), meta: Vec::new(), reserved, upstreams })
    }

    /// The headers of every request.
    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// One value for one context: what is kept for one must not serve another.
    pub(crate) fn key(&self) -> Value {
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| json!([name.as_str(), value.as_bytes()])).collect();
        json!([headers, self.meta])
    }

    /// A request with the context in its `_meta`, and with nothing there that looks like it.
    pub(crate) fn request<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let clean = self.cleaned(text);
        if self.meta.is_empty() {
            return clean;
        }
        match with_meta(&clean, &self.meta) {
            Some(text) => Cow::Owned(text),
            None => clean,
        }
    }

    /// A message without what looks like the context.
    pub(crate) fn cleaned<'t>(&self, text: &'t str) -> Cow<'t, str> {
        without(text, &self.reserved).map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// The value in the form of a header, and in that of `_meta`.
fn read(value: &ContextValue, grant: &Grant) -> Option<(String, Value)> {
    if value.kind == ContextKind::Scopes {
        let mut scopes = grant.scopes.clone();
        scopes.sort();
        scopes.dedup();
        let text = scopes.join(" ");
        return (!scopes.is_empty() && text.len() <= LONGEST).then(|| (text, json!(scopes)));
    }
    let text = claim_text(grant.claims.get(&value.claim)?)?;
    Some((text.clone(), json!(text)))
}

/// A claim that names one thing. What two readers might read as two names does not count.
pub(crate) fn claim_text(claim: &Value) -> Option<String> {
    let text = match claim {
        Value::String(text) => text.clone(),
        // A longer number, or one with a fraction, was rounded: it may stand for several.
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        _ => return None,
    };
    let is_plain = !text.is_empty() && text.len() <= LONGEST && text.trim() == text;
    (is_plain && !text.chars().any(char::is_control)).then_some(text)
}

/// Who a request is for, where one subject may belong to several tenants: what is kept for one never serves another.
pub(crate) fn principal(subject: Option<&HeaderValue>, parts: &[Option<String>]) -> Option<HeaderValue> {
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    add(subject.map_or(b"", |subject| subject.as_bytes()));
    for part in parts {
        add(&[u8::from(part.is_some())]);
        add(part.as_deref().unwrap_or_default().as_bytes());
    }
    HeaderValue::from_str(&URL_SAFE_NO_PAD.encode(digest.finalize())).ok()
}

fn with_meta(text: &str, meta: &[(String, String)]) -> Option<String> {
    let all = members(text)?;
    let additions: Vec<_> = meta.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let object = || {
        let own: Vec<_> = meta.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        format!("{{{}}}", own.join(","))
    };
    let is_object = |at: usize| text.as_bytes().get(at) == Some(&b'{');
    let mut splice = Splice::new(text);
    let params = member(text, &all, "params").filter(|params| is_object(params.value.start));
    if let Some(params) = params {
        match member(text, &params.members, "_meta") {
            Some(found) if is_object(found.value.start) => {
                let inner = members_at(text, &found.value)?;
                splice.object(&found.value, &inner, |_| true, &additions);
            }
            Some(found) => splice.replace(found.value.clone(), object()),
            None => splice.object(&params.value, &params.members, |_| true, &[("_meta", object())]),
        }
    } else {
        let start = text.find('{')?;
        let params = format!("{{\"_meta\":{}}}", object());
        splice.object(&(start..text.len()), &all, |name| name != "params", &[("params", params)]);
    }
    Some(splice.finish())
}

#[cfg(test)]
mod tests;
