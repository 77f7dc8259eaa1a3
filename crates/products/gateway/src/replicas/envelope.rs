//! The sealed head of a request that one gateway sends to another: who must answer, when it was sent, what the client sent and
//! from where. It fits one body. Must not know what the request asks for.

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::server::http::{Bytes, HeaderMap, HeaderName, HeaderValue, Method, Routed};
use net::server::tls::Certificate;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::keys::Keys;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Envelope {
    /// The gateway that must answer.
    pub(crate) to: String,
    /// When it was sent, by the clock of the store in milliseconds.
    pub(crate) at: u64,
    method: String,
    target: String,
    /// Each byte of a value is one character.
    headers: Vec<(String, String)>,
    /// SHA-256 of the body in base64url.
    body: String,
    addresses: [Option<IpAddr>; 2],
    certificate: Option<ShownCertificate>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct ShownCertificate {
    sha256: String,
    uris: Vec<String>,
    dns: Vec<String>,
    not_before: u64,
    not_after: u64,
}

/// An envelope that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) sender: String,
    pub(crate) number: u64,
    pub(crate) envelope: Envelope,
}

fn digest(body: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(body))
}

impl Envelope {
    pub(crate) fn new(to: &str, at: u64, request: &Routed) -> Self {
        let text = |value: &HeaderValue| value.as_bytes().iter().map(|byte| char::from(*byte)).collect();
        let certificate = request.certificate.as_ref().map(|shown| ShownCertificate {
            sha256: shown.sha256.clone(),
            uris: shown.uris.clone(),
            dns: shown.dns.clone(),
            not_before: shown.not_before,
            not_after: shown.not_after,
        });
        Self {
            to: to.to_owned(),
            at,
            method: request.method.as_str().to_owned(),
            target: request.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned(),
            headers: request.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect(),
            body: digest(&request.body),
            addresses: request.addresses,
            certificate,
        }
    }

    /// The envelope as a header: its sender and number, and the rest sealed.
    pub(crate) fn seal(&self, keys: &Keys, sender: &str, number: u64) -> Option<HeaderValue> {
        let sealed = keys.of_sender(0, sender)?.seal(number, serde_json::to_vec(self).ok()?)?;
        let text = format!("{sender}.{number}.{}", URL_SAFE_NO_PAD.encode(sealed));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Opens what a holder of one of the keys sealed.
    pub(crate) fn open(keys: &Keys, header: &HeaderValue) -> Option<Opened> {
        let mut parts = header.to_str().ok()?.split('.');
        let (sender, number, sealed) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok().filter(|_| parts.next().is_none())?;
        let open = |index| keys.of_sender(index, sender)?.open(number, sealed.clone());
        let envelope = serde_json::from_slice(&(0..keys.count()).find_map(open)?).ok()?;
        Some(Opened { sender: sender.to_owned(), number, envelope })
    }

    /// The request, with this body; `None` where it is another's.
    pub(crate) fn request(self, body: Bytes) -> Option<Routed> {
        if digest(&body) != self.body {
            return None;
        }
        let mut headers = HeaderMap::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let value = value.chars().map(u8::try_from).collect::<Result<Vec<_>, _>>().ok()?;
            headers.append(HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(&value).ok()?);
        }
        let certificate = self.certificate.map(|shown| {
            let ShownCertificate { sha256, uris, dns, not_before, not_after } = shown;
            Arc::new(Certificate { sha256, uris, dns, not_before, not_after })
        });
        let method = Method::from_bytes(self.method.as_bytes()).ok()?;
        let uri = self.target.parse().ok()?;
        Some(Routed { method, uri, headers, body, addresses: self.addresses, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::tests::keys;
    use super::*;

    fn routed() -> Routed {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer s3cr3t"));
        headers.append("x-a", HeaderValue::from_static("1"));
        headers.append("x-a", HeaderValue::from_bytes(b"\xff").expect("a value"));
        let certificate = Certificate {
            sha256: "s".to_owned(),
            uris: vec!["spiffe://a".to_owned()],
            dns: Vec::new(),
            not_before: 1,
            not_after: 2,
        };
        Routed {
            method: Method::POST,
            uri: "/mcp?a=b".parse().expect("a target"),
            headers,
            body: Bytes::from_static(b"{}"),
            addresses: ["10.0.0.1".parse().ok(), None],
            certificate: Some(Arc::new(certificate)),
        }
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let (keys, sent) = (keys(&[1]), routed());
        let header = Envelope::new("b", 5, &sent).seal(&keys, "a", 9).expect("sealed");
        assert!(!header.to_str().expect("ASCII").contains("s3cr3t") && header.is_sensitive());
        let opened = Envelope::open(&keys, &header).expect("opened");
        assert_eq!((opened.sender.as_str(), opened.number), ("a", 9));
        assert_eq!((opened.envelope.to.as_str(), opened.envelope.at), ("b", 5));
        assert!(opened.envelope.clone().request(Bytes::from_static(b"{} ")).is_none(), "another body");
        let got = opened.envelope.request(sent.body.clone()).expect("the request");
        assert_eq!((&got.method, &got.uri, &got.headers), (&sent.method, &sent.uri, &sent.headers));
        assert_eq!((&got.body, got.addresses, &got.certificate), (&sent.body, sent.addresses, &sent.certificate));
    }

    #[test]
    fn an_altered_envelope_does_not_open() {
        let header = Envelope::new("b", 5, &routed()).seal(&keys(&[1]), "a", 9).expect("sealed");
        let text = header.to_str().expect("ASCII").to_owned();
        let opens = |text: &str| Envelope::open(&keys(&[1]), &HeaderValue::from_str(text).expect("a value")).is_some();
        assert!(opens(&text));
        let rest = text.strip_prefix("a.9.").expect("sender and number");
        for altered in
            [format!("b.9.{rest}"), format!("a.8.{rest}"), format!("{text}."), rest.to_owned(), String::new()]
        {
            assert!(!opens(&altered), "{altered}");
        }
        assert!(Envelope::open(&keys(&[2]), &header).is_none(), "another key");
        assert!(Envelope::open(&keys(&[2, 1]), &header).is_some(), "an older key");
    }
}
