//! Which access tokens a server accepts: signed by the issuer, for this server, in time. A claim of the wrong type counts as
//! missing, and a missing claim that must be there is a refusal.

use net::server::http::{Grant, HeaderMap};
use serde_json::{Value, json};

use crate::jose::{self, JwkSet, Jws};
use crate::now;

/// How far clocks may be apart, in seconds.
const APART: u64 = 5;

/// What a token must say.
#[derive(Clone, Debug)]
pub struct TokenRequirements {
    /// One of these issued it.
    pub issuers: Vec<String>,
    /// It is for one of these.
    pub audiences: Vec<String>,
    /// The fingerprint of the key that it is bound to; to none where `None`.
    pub key: Option<String>,
    /// The fingerprint of the certificate that the client showed, if it did: a token may be bound to it (RFC 8705).
    pub certificate: Option<String>,
}

/// Why a token will not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFlaw {
    /// It is not a signed token of the right type.
    Form,
    /// No known key may have signed it.
    Key,
    /// The signature is wrong.
    Signature,
    /// Another issuer's.
    Issuer,
    /// For another server.
    Audience,
    /// It has expired, or is not valid yet.
    Time,
    /// It is bound to another key (RFC 9449) or certificate (RFC 8705) than the request shows.
    Bound,
    /// It was revoked.
    Revoked,
    /// Its issuer says that it is not active (RFC 7662).
    Inactive,
}

impl TokenFlaw {
    /// In words that tell an attacker nothing that is not in the token.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Form => "this is no access token",
            Self::Key | Self::Signature => "nobody that is trusted signed the token",
            Self::Issuer => "the token is from another issuer",
            Self::Audience => "the token is for another server",
            Self::Time => "the token has expired, or is not valid yet",
            Self::Revoked => "the token was revoked",
            Self::Inactive => "the token is not active",
            Self::Bound => "the token is bound to another key or certificate than the request shows",
        }
    }
}

/// The token that a request carries under this scheme in its header, the only place that is looked at; `None` where it carries
/// nothing.
pub fn carried<'h>(headers: &'h HeaderMap, wanted: &str) -> Result<Option<&'h str>, TokenFlaw> {
    let mut values = headers.get_all("authorization").iter();
    let (value, more) = (values.next(), values.next().is_some());
    let Some(value) = value else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| !more).ok_or(TokenFlaw::Form)?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(wanted) => Ok(Some(token)),
        _ => Err(TokenFlaw::Form),
    }
}

/// What a token grants.
pub fn grant(token: &str, keys: &JwkSet, wanted: &TokenRequirements) -> Result<Grant, TokenFlaw> {
    access(token, keys, wanted).map(|claims| granted(token, &claims))
}

/// The claims of an access token.
pub fn access(token: &str, keys: &JwkSet, wanted: &TokenRequirements) -> Result<Value, TokenFlaw> {
    // An identity token is for the client, and a proof for one request.
    vouched(token, &["", "at+jwt", "jwt"], keys, wanted)
}

/// What the claims of a token grant.
pub fn granted(token: &str, claims: &Value) -> Grant {
    let (subject, scopes, claims) = (subject(token, claims), scopes(claims), claims.clone());
    Grant { subject, scopes, claims, ..Grant::default() }
}

/// Whose token it is. A user and a client may have the same name, and a token that names neither is like no other. A user is a
/// text or, with some issuers, a whole number; what is anything else names nobody, least of all the client.
fn subject(token: &str, claims: &Value) -> String {
    let named = |name: &'static str| claims.get(name).filter(|value| !value.is_null()).map(|value| (name, value));
    let is_name =
        |value: &Value| value.is_i64() || value.is_u64() || value.as_str().is_some_and(|text| !text.is_empty());
    let found = named("sub").or_else(|| named("client_id")).filter(|(_, value)| is_name(value));
    let (kind, name) =
        found.map_or_else(|| ("token", json!(jose::sha256(token))), |(kind, value)| (kind, value.clone()));
    json!([text(claims, "iss"), kind, name]).to_string()
}

/// What a token says that is of one of these types (empty where it does not say), signed with one of the keys, and as it is
/// wanted.
pub fn vouched(token: &str, types: &[&str], keys: &JwkSet, wanted: &TokenRequirements) -> Result<Value, TokenFlaw> {
    let claims = signed(token, types, keys)?;
    meets(&claims, wanted)?;
    Ok(claims)
}

/// What a token says that is of one of these types and signed with one of the keys, and that may be for anybody.
pub(super) fn signed(token: &str, types: &[&str], keys: &JwkSet) -> Result<Value, TokenFlaw> {
    let read = Jws::read(token).map_err(|_| TokenFlaw::Form)?;
    let claims = read.verified(keys).map_err(|flaw| match flaw {
        jose::Flaw::Key => TokenFlaw::Key,
        jose::Flaw::Signature => TokenFlaw::Signature,
        jose::Flaw::Form | jose::Flaw::Header => TokenFlaw::Form,
    })?;
    let typ = read.header("typ").unwrap_or_default().to_ascii_lowercase();
    if !types.contains(&typ.strip_prefix("application/").unwrap_or(&typ)) {
        return Err(TokenFlaw::Form);
    }
    Ok(claims.clone())
}

/// Whether a token with these claims is good at this moment. One without an end is not.
pub fn in_time(claims: &Value) -> bool {
    let now = now();
    let lives = number(claims, "exp").is_some_and(|exp| exp + APART as f64 > now as f64);
    let began = claims.get("nbf").is_none_or(|nbf| nbf.as_f64().is_some_and(|nbf| nbf <= (now + APART) as f64));
    lives && began
}

/// Whether claims are as they are wanted.
pub(super) fn meets(claims: &Value, wanted: &TokenRequirements) -> Result<(), TokenFlaw> {
    let issued = text(claims, "iss").is_some_and(|iss| wanted.issuers.iter().any(|issuer| issuer == iss));
    if !issued {
        return Err(TokenFlaw::Issuer);
    }
    let for_us = |audience: &str| wanted.audiences.iter().any(|own| own == audience);
    let meant = match claims.get("aud") {
        Some(Value::String(one)) => for_us(one),
        // A list of anything but texts is no audience.
        Some(Value::Array(many)) => {
            many.iter().all(Value::is_string) && many.iter().filter_map(Value::as_str).any(for_us)
        }
        _ => false,
    };
    if !meant {
        return Err(TokenFlaw::Audience);
    }
    if !in_time(claims) {
        return Err(TokenFlaw::Time);
    }
    // Whoever stole it has no key; taken as a plain token it would open everything to them.
    if is_bound_to(claims.get("cnf"), wanted) { Ok(()) } else { Err(TokenFlaw::Bound) }
}

/// Whether a token is bound (RFC 7800) only to what was shown: the key (RFC 9449), the certificate of the connection (RFC 8705),
/// or both. A token that is bound to neither needs neither, unless a key was shown.
fn is_bound_to(cnf: Option<&Value>, shown: &TokenRequirements) -> bool {
    let is_shown = |(name, value): (&String, &Value)| {
        let shown = match name.as_str() {
            "jkt" => &shown.key,
            "x5t#S256" => &shown.certificate,
            _ => return false,
        };
        shown.as_deref().is_some_and(|shown| value == shown)
    };
    match cnf {
        None => shown.key.is_none(),
        Some(Value::Object(all)) => {
            !all.is_empty() && all.iter().all(is_shown) && (shown.key.is_none() || all.contains_key("jkt"))
        }
        Some(_) => false,
    }
}

/// `scope`, or the list that some issuers have in its place.
fn scopes(claims: &Value) -> Vec<String> {
    let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect();
    match (claims.get("scope"), claims.get("scp")) {
        (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => words(text),
        (Some(Value::Array(list)), _) | (None, Some(Value::Array(list))) => {
            // With a space in it, an entry would be two scopes to a server that reads them as one text.
            let is_one = |scope: &&str| scope.bytes().all(|byte| byte.is_ascii_graphic());
            list.iter().filter_map(Value::as_str).filter(is_one).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// A claim that is a text.
pub fn text<'c>(claims: &'c Value, name: &str) -> Option<&'c str> {
    claims.get(name)?.as_str()
}

fn number(claims: &Value, name: &str) -> Option<f64> {
    claims.get(name)?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::Signer;

    const ISSUER: &str = "https://as.example";
    const SERVER: &str = "http://127.0.0.1:1/mcp";

    fn judged(header: Value, change: impl Fn(&mut Value)) -> Result<Grant, TokenFlaw> {
        let signer = Signer::fresh();
        let mut claims = json!({ "iss": ISSUER, "aud": SERVER, "exp": now() + 60, "sub": "me", "scope": "a b" });
        change(&mut claims);
        let keys = JwkSet { keys: signer.public().into_iter().collect() };
        let (issuers, audiences) = (vec![ISSUER.to_owned()], vec![SERVER.to_owned()]);
        let wanted = TokenRequirements { issuers, audiences, key: None, certificate: None };
        grant(&signer.sign(header, &claims), &keys, &wanted)
    }

    #[test]
    fn a_token_for_us_lets_in() {
        let granted = judged(json!({ "typ": "at+jwt" }), |_| ()).expect("let in");
        let subject = format!("[\"{ISSUER}\",\"sub\",\"me\"]");
        assert_eq!((granted.subject, granted.scopes), (subject, vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(granted.claims["sub"], "me");
        assert!(judged(json!({}), |claims| claims["aud"] = json!(["x", SERVER])).is_ok());
        let listed =
            judged(json!({ "typ": "JWT" }), |claims| claims["scope"] = json!(["c", "d admin", 7])).expect("let in");
        assert_eq!(listed.scopes, ["c"]);
    }

    #[test]
    fn users_clients_and_tokens_without_either_are_different_subjects() {
        let subject = |sub: Value, client: Value| {
            let granted = judged(json!({}), |claims| {
                claims["sub"] = sub.clone();
                claims["client_id"] = client.clone();
            });
            granted.expect("let in").subject
        };
        let (none, me) = (|| Value::Null, || json!("me"));
        assert_eq!(subject(me(), none()), subject(me(), json!("another client")), "one user");
        assert_eq!(subject(none(), me()), subject(none(), me()), "one client");
        assert_ne!(subject(me(), none()), subject(none(), me()), "a user and a client of one name");
        assert_ne!(subject(none(), none()), subject(none(), none()), "two tokens without a subject");
        assert_ne!(subject(json!(""), none()), subject(json!(""), none()), "an empty name is none");
        assert_eq!(subject(json!(7), me()), subject(json!(7), me()), "a user by number");
        for (one, other) in [
            (json!(7), json!(8)),
            (json!(7), json!("7")),
            (json!(true), json!(false)),
            (json!(["a"]), json!(["b"])),
            (json!({ "a": 1 }), json!({ "a": 2 })),
            (json!(""), none()),
            (json!(1e20), json!(1.000_000_000_000_000_1e20)),
        ] {
            assert_ne!(subject(one.clone(), me()), subject(other.clone(), me()), "{one} and {other} of one client");
        }
    }

    #[test]
    fn a_bound_token_needs_all_that_it_is_bound_to_and_nothing_unknown() {
        let (jkt, x5t) = (Some("k"), Some("c"));
        for (cnf, key, certificate, fits) in [
            (None, None, None, true),
            (None, None, x5t, true),
            (None, jkt, x5t, false),
            (Some(json!({ "x5t#S256": "c" })), None, x5t, true),
            (Some(json!({ "x5t#S256": "c" })), None, None, false),
            (Some(json!({ "x5t#S256": "c" })), None, Some("C"), false),
            (Some(json!({ "x5t#S256": "c" })), jkt, x5t, false),
            (Some(json!({ "x5t#S256": ["c"] })), None, x5t, false),
            (Some(json!({ "x5t#S256": null })), None, None, false),
            (Some(json!({ "x5t": "c" })), None, x5t, false),
            (Some(json!({ "x5t#S256": "c", "kid": "k" })), None, x5t, false),
            (Some(json!({ "x5t#S256": "c", "jkt": "k" })), None, x5t, false),
            (Some(json!({ "x5t#S256": "c", "jkt": "k" })), jkt, x5t, true),
            (Some(json!({ "jkt": "k" })), jkt, x5t, true),
            (Some(json!({ "jkt": "k" })), None, x5t, false),
            (Some(json!({})), None, x5t, false),
            (Some(json!([])), None, x5t, false),
            (Some(json!(null)), None, None, false),
        ] {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let (key, certificate) = (owned(key), owned(certificate));
            let shown = TokenRequirements { issuers: Vec::new(), audiences: Vec::new(), key, certificate };
            assert_eq!(is_bound_to(cnf.as_ref(), &shown), fits, "{cnf:?} {shown:?}");
        }
    }

    #[test]
    fn any_other_does_not() {
        let with = |name: &'static str, value: Value| judged(json!({}), move |claims| claims[name] = value.clone());
        for (name, value, flaw) in [
            ("iss", json!("https://as.example/"), TokenFlaw::Issuer),
            ("iss", json!([ISSUER]), TokenFlaw::Issuer),
            ("aud", json!("http://127.0.0.1:1"), TokenFlaw::Audience),
            ("aud", json!("http://127.0.0.1:1/mcp/"), TokenFlaw::Audience),
            ("aud", Value::Null, TokenFlaw::Audience),
            ("exp", json!(now() - 60), TokenFlaw::Time),
            ("exp", json!((now() + 60).to_string()), TokenFlaw::Time),
            ("exp", Value::Null, TokenFlaw::Time),
            ("nbf", json!(now() + 60), TokenFlaw::Time),
            ("nbf", json!("soon"), TokenFlaw::Time),
            ("cnf", json!({ "jkt": "x" }), TokenFlaw::Bound),
        ] {
            assert_eq!(with(name, value.clone()), Err(flaw), "{name} {value}");
        }
        for typ in ["dpop+jwt", "id+jwt", "oauth-id-jag+jwt"] {
            assert_eq!(judged(json!({ "typ": typ }), |_| ()), Err(TokenFlaw::Form), "{typ}");
        }
    }
}
