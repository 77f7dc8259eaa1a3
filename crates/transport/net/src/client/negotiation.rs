//! The first request on a connection, and what its answer says about the era and the revisions of the server
//! (2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions, 2025-11-25
//! basic/lifecycle#version-negotiation). Pure: what follows from it is for [`super::detect`] and for clients to decide.

use serde_json::{Value, json};
use wire::{Era, Kind, Message, Revision, meta};

use super::OpenError;
use crate::service::code::{HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION};

/// Method and parameters of the request that opens a conversation in `revision`.
pub fn first_request(revision: Revision, client_info: &Value, capabilities: &Value) -> (&'static str, Value) {
    match revision.era() {
        Era::Legacy => {
            let version = revision.as_str();
            let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client_info });
            ("initialize", params)
        }
        Era::Modern => {
            let meta = json!({
                meta::PROTOCOL_VERSION: revision.as_str(),
                meta::CLIENT_INFO: client_info,
                meta::CLIENT_CAPABILITIES: capabilities,
            });
            ("server/discover", json!({ "_meta": meta }))
        }
    }
}

/// What an answer to the first request says.
#[derive(Clone, Debug, PartialEq)]
pub enum Negotiation {
    /// A result. It names these versions, perhaps none.
    Introduced(Vec<String>),
    /// The server refuses the version and names those that it speaks, perhaps none.
    VersionRefused(Vec<String>),
    /// The server refuses the request by an error that only a modern server has.
    ModernError,
    /// An error that says nothing about eras and revisions.
    OtherError,
}

impl Negotiation {
    /// Reads an answer to the first request of `era`.
    pub fn read(answer: &Message, era: Era) -> Self {
        if answer.kind() == Kind::Result {
            let member = if era == Era::Legacy { "protocolVersion" } else { "supportedVersions" };
            return Self::Introduced(versions(answer.result().and_then(|result| result.get(member))));
        }
        let supported = supported_versions(answer);
        match (era, answer.error_code()) {
            (Era::Modern, Some(UNSUPPORTED_VERSION)) => Self::VersionRefused(supported),
            (Era::Modern, Some(HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY)) => Self::ModernError,
            // A legacy error has no code of its own for this.
            (Era::Legacy, _) if !supported.is_empty() => Self::VersionRefused(supported),
            _ => Self::OtherError,
        }
    }
}

/// The versions that an error names as supported.
pub fn supported_versions(answer: &Message) -> Vec<String> {
    versions(answer.error().and_then(|error| error.get("data")?.get("supported")))
}

/// The newest known revision of `era` among `versions`.
pub fn newest(versions: &[String], era: Era) -> Option<Revision> {
    versions.iter().filter_map(|version| version.parse().ok()).filter(|revision: &Revision| revision.era() == era).max()
}

/// Whether a client tries HTTP+SSE after this status (2025-11-25 basic/transports#backwards-compatibility).
pub const fn suggests_old_transport(status: u16) -> bool {
    matches!(status, 400 | 404 | 405)
}

/// Name and version of the server, as its answer to the first request gives them.
pub fn server_info(revision: Revision, result: &Value) -> Option<&Value> {
    match revision.era() {
        Era::Legacy => result.get("serverInfo"),
        Era::Modern => result.get("_meta")?.get(meta::SERVER_INFO),
    }
}

/// The failure of a first request that was answered with an error, or with a result of something else.
pub fn declined(at: String, answer: &Message) -> OpenError {
    let came = match answer.error() {
        Some(error) => error["message"].as_str().unwrap_or_default().to_owned(),
        None => format!("an unexpected result: {}", answer.body_text().unwrap_or_default()),
    };
    OpenError::Declined { at, came }
}

/// One version, or a list of them.
fn versions(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(version)) => vec![version.clone()],
        Some(Value::Array(versions)) => versions.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wire::message::{Packet, parse};
    use wire::{Era, Message};

    use super::{Negotiation, newest};

    fn answer(member: &str, body: &Value) -> Message {
        let text = json!({ "jsonrpc": "2.0", "id": 1, member: body }).to_string();
        let Ok(Packet::Message(message)) = parse(text.as_bytes()) else { panic!("{text}") };
        message
    }

    #[test]
    fn a_result_names_versions_by_its_era() {
        let legacy = answer("result", &json!({ "protocolVersion": "2025-06-18", "supportedVersions": ["x"] }));
        assert_eq!(Negotiation::read(&legacy, Era::Legacy), Negotiation::Introduced(vec!["2025-06-18".to_owned()]));
        assert_eq!(Negotiation::read(&legacy, Era::Modern), Negotiation::Introduced(vec!["x".to_owned()]));
        assert_eq!(Negotiation::read(&answer("result", &json!({})), Era::Modern), Negotiation::Introduced(Vec::new()));
    }

    #[test]
    fn an_error_shows_its_era() {
        let error = |code: i64, supported: Value| {
            answer("error", &json!({ "code": code, "message": "no", "data": { "supported": supported } }))
        };
        let refused = || Negotiation::VersionRefused(vec!["2025-03-26".to_owned()]);
        for (code, era, read) in [
            (-32022, Era::Modern, refused()),
            (-32020, Era::Modern, Negotiation::ModernError),
            (-32021, Era::Modern, Negotiation::ModernError),
            (-32602, Era::Modern, Negotiation::OtherError),
            (-32602, Era::Legacy, refused()),
        ] {
            assert_eq!(Negotiation::read(&error(code, json!(["2025-03-26"])), era), read, "{code} {era:?}");
        }
        let bare = answer("error", &json!({ "code": -32022, "message": "no" }));
        assert_eq!(Negotiation::read(&bare, Era::Modern), Negotiation::VersionRefused(Vec::new()));
        assert_eq!(Negotiation::read(&bare, Era::Legacy), Negotiation::OtherError);
    }

    #[test]
    fn the_newest_version_is_of_the_era_asked_for() {
        let versions = ["2026-07-28", "2025-03-26", "2025-11-25", "2031-01-01"].map(str::to_owned);
        assert_eq!(newest(&versions, Era::Legacy), Some(wire::revision::R2025_11_25));
        assert_eq!(newest(&versions[1..], Era::Modern), None);
    }
}
