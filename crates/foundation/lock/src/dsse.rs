//! The manifest as an in-toto Statement in a DSSE envelope, for tools that verify attestations. Must not know keys.

use serde_json::{Value, json};
use wire::json::canonical;

use crate::bytes::{decode_standard, encode_standard};
use crate::jws::{Flaw, MOST, Signing, Verifies};
use crate::manifest::{BadManifest, Manifest};
use crate::strict::{Integers, read};
use crate::trust::{Checked, Judgement, State, check, fold};

/// The type of the payload.
pub const PAYLOAD: &str = "application/vnd.in-toto+json";
/// The type of the statement.
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate: a manifest.
pub const PREDICATE: &str = "https://github.com/proofhouse/proofhouse/mcp-manifest/v1";

/// The statement of a manifest: its items are the subjects, the manifest is the predicate.
pub fn statement(manifest: &Manifest) -> Value {
    let mut predicate = manifest.document.clone();
    if let Value::Object(members) = &mut predicate {
        members.shift_remove("signatures");
    }
    let subjects: Vec<Value> = subjects(manifest).map(|(name, digest)| subject(&name, &digest)).collect();
    json!({ "_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate })
}

fn subject(name: &str, digest: &str) -> Value {
    json!({ "name": name, "digest": { "sha256": digest } })
}

/// The name and digest of each subject.
fn subjects(manifest: &Manifest) -> impl Iterator<Item = (String, String)> {
    let items = manifest.items.iter().map(|((kind, name), digest)| (format!("{}/{name}", kind.list()), digest.hex()));
    items.chain(manifest.instructions.map(|digest| ("instructions".to_owned(), digest.hex())))
}

/// What is signed: the type and the payload, each with its length before it.
pub fn pre_authentication(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut out = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    out.extend_from_slice(payload);
    out
}

/// The signed envelope of a manifest.
pub fn envelope(manifest: &Manifest, keys: &[Signing<'_>]) -> Value {
    let payload = canonical(&statement(manifest));
    let message = pre_authentication(PAYLOAD, &payload);
    let signature = |key: &Signing<'_>| {
        let signature = (key.sign)(&message);
        let signature = if key.alg == "ES256" { to_der(&signature) } else { signature };
        json!({ "keyid": key.kid, "sig": encode_standard(&signature) })
    };
    let signatures: Vec<Value> = keys.iter().map(signature).collect();
    json!({ "payloadType": PAYLOAD, "payload": encode_standard(&payload), "signatures": signatures })
}

/// Whether a document is an envelope.
pub fn is_envelope(document: &Value) -> bool {
    document.get("payloadType").is_some()
}

/// The manifest in an envelope. Not verified.
pub fn opened(envelope: &Value) -> Result<Manifest, BadManifest> {
    let wrong = |at: &str, expected| BadManifest::Member(at.to_owned(), expected);
    if envelope["payloadType"].as_str() != Some(PAYLOAD) {
        return Err(wrong("payloadType", "`application/vnd.in-toto+json`"));
    }
    let statement = String::from_utf8(payload(envelope).ok_or_else(|| wrong("payload", "base64"))?);
    let statement = statement.map_err(|_| wrong("payload", "UTF-8"))?;
    let statement = read(&statement, Integers::Doubles).map_err(BadManifest::Json)?;
    for (member, expected) in [("_type", STATEMENT), ("predicateType", PREDICATE)] {
        if statement[member].as_str() != Some(expected) {
            return Err(wrong(member, "the type of a manifest's statement"));
        }
    }
    let manifest = Manifest::of(statement["predicate"].clone())?;
    // Others look at the subjects alone: they must be those of the manifest.
    let expected: Vec<Value> = subjects(&manifest).map(|(name, digest)| subject(&name, &digest)).collect();
    if statement["subject"] != Value::Array(expected) {
        return Err(wrong("subject", "the digests of the manifest"));
    }
    Ok(manifest)
}

fn payload(envelope: &Value) -> Option<Vec<u8>> {
    decode_standard(envelope["payload"].as_str()?)
}

/// The state of an envelope, whose signatures are checked with `keys` (JWKs).
pub fn judge(envelope: &Value, keys: &[Value], verifies: Verifies<'_>) -> Judgement {
    let tampered = |reason: &str| Judgement::new(State::Tampered, reason);
    let Some(payload) = payload(envelope) else { return tampered("the payload is not base64") };
    let message = pre_authentication(envelope["payloadType"].as_str().unwrap_or_default(), &payload);
    let Some(signatures) = envelope["signatures"].as_array().filter(|all| all.len() <= MOST) else {
        return tampered("`signatures` is not a list of at most 16");
    };
    let checked = signatures.iter().map(|signature| {
        let bytes = signature["sig"].as_str().and_then(decode_standard);
        let (Some(kid), Some(bytes)) = (signature["keyid"].as_str(), bytes) else {
            return Checked::Flawed(Flaw::Form("`keyid` and `sig`"));
        };
        check(kid, keys, |key| match key["kty"].as_str() {
            Some("EC") => from_der(&bytes).is_some_and(|fixed| verifies(key, "ES256", &message, &fixed)),
            Some("OKP") => verifies(key, "EdDSA", &message, &bytes),
            _ => false,
        })
    });
    fold(checked.collect())
}

/// Of a signature on P-256: the size of each of its two numbers.
const NUMBER: usize = 32;

/// A signature of two numbers as ASN.1 DER, as verifiers of attestations expect it.
fn to_der(fixed: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for number in fixed.chunks(NUMBER) {
        let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len().saturating_sub(1));
        let number = &number[start..];
        let sign = usize::from(number.first().is_some_and(|first| first & 0x80 != 0));
        body.extend([2, (number.len() + sign) as u8]);
        body.extend(std::iter::repeat_n(0, sign));
        body.extend_from_slice(number);
    }
    [&[0x30, body.len() as u8], &body[..]].concat()
}

/// The two numbers of a DER signature. Strict: one signature has one form.
fn from_der(der: &[u8]) -> Option<Vec<u8>> {
    let rest = der.strip_prefix(&[0x30])?;
    let (&length, mut rest) = rest.split_first()?;
    if usize::from(length) != rest.len() {
        return None;
    }
    let mut fixed = Vec::with_capacity(2 * NUMBER);
    for _ in 0..2 {
        let (&length, after) = rest.strip_prefix(&[2])?.split_first()?;
        let (number, after) = after.split_at_checked(usize::from(length))?;
        let digits = number.strip_prefix(&[0]).unwrap_or(number);
        fixed.extend(std::iter::repeat_n(0, NUMBER.checked_sub(digits.len())?));
        fixed.extend_from_slice(digits);
        rest = after;
    }
    let is_canonical = rest.is_empty() && to_der(&fixed) == der;
    is_canonical.then_some(fixed)
}
