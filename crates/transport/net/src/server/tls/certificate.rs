//! What of a certificate matters here: its names, its fingerprint and how long it is valid (RFC 5280). Must not decide whether
//! it is trusted: that was verified before.

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

/// Tags of DER.
const BOOLEAN: u8 = 0x01;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const URI: u8 = 0x86;
const ADDRESS: u8 = 0x87;
/// 2.5.4.3, `commonName`, and 2.5.4.10, `organizationName`.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const ORGANIZATION: [u8; 3] = [0x55, 0x04, 0x0a];
/// 2.5.29.17, `subjectAltName`.
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// A certificate that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// SHA-256 of it in base64url, as tokens that are bound to it have it in `x5t#S256` (RFC 8705).
    pub sha256: String,
    /// Its URIs, such as `spiffe://example.org/agent`, in their order.
    pub uris: Vec<String>,
    /// Its DNS names in lower case, in their order.
    pub dns: Vec<String>,
    /// Since when it is valid, in seconds since 1970.
    pub not_before: u64,
    /// Until when it is valid, in seconds since 1970.
    pub not_after: u64,
}

impl Certificate {
    /// Reads a certificate in DER; `None` where it is malformed.
    pub fn read(der: &[u8]) -> Option<Self> {
        let mut certificate = Der(Der(der).content(SEQUENCE)?);
        let mut fields = Der(certificate.content(SEQUENCE)?);
        fields.optional(VERSION);
        // Serial number, signature algorithm, issuer.
        for _ in 0..3 {
            fields.element()?;
        }
        let mut validity = Der(fields.content(SEQUENCE)?);
        let (not_before, not_after) = (time(validity.element()?)?, time(validity.element()?)?);
        // Subject and its key.
        for _ in 0..2 {
            fields.element()?;
        }
        let names = loop {
            match fields.element() {
                None => break Names::default(),
                Some((EXTENSIONS, content)) => break names(content)?,
                Some(_) => {}
            }
        };
        let sha256 = URL_SAFE_NO_PAD.encode(digest(&SHA256, der));
        Some(Self { sha256, uris: names.uris, dns: names.dns, not_before, not_after })
    }

    /// Who it is for: its first URI, else its first DNS name, else its fingerprint.
    pub fn name(&self) -> String {
        let named = self.uris.first().or(self.dns.first()).cloned();
        named.unwrap_or_else(|| format!("sha256:{}", self.sha256))
    }

    /// Whether it is valid at this moment.
    pub fn is_current(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        (self.not_before..=self.not_after).contains(&now)
    }
}

/// Who a certificate names, for people: nothing may be decided by these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its holder's common name, else the organization.
    pub subject: Option<String>,
    /// Its issuer's.
    pub issuer: Option<String>,
    /// The hosts that it is for: DNS names and addresses.
    pub hosts: Vec<String>,
    /// Until when it is valid, in seconds since 1970.
    pub not_after: u64,
}

impl Described {
    /// Reads a certificate in DER; `None` where it is malformed.
    pub fn read(der: &[u8]) -> Option<Self> {
        let mut fields = Der(Der(Der(der).content(SEQUENCE)?).content(SEQUENCE)?);
        fields.optional(VERSION);
        // Serial number, signature algorithm.
        for _ in 0..2 {
            fields.element()?;
        }
        let issuer = party(fields.content(SEQUENCE)?);
        let mut validity = Der(fields.content(SEQUENCE)?);
        validity.element()?;
        let not_after = time(validity.element()?)?;
        let subject = party(fields.content(SEQUENCE)?);
        let mut hosts = Vec::new();
        while let Some((tag, content)) = fields.element() {
            if tag == EXTENSIONS {
                let names = names(content)?;
                hosts = names.dns;
                hosts.extend(names.addresses.iter().map(IpAddr::to_string));
            }
        }
        Some(Self { subject, issuer, hosts, not_after })
    }
}

/// The common name in a distinguished name, else the organization.
fn party(content: &[u8]) -> Option<String> {
    let (mut parts, mut organization) = (Der(content), None);
    while let Some((_, set)) = parts.element() {
        let mut attribute = Der(Der(set).content(SEQUENCE)?);
        let kind = attribute.content(OBJECT)?;
        let text = || String::from_utf8_lossy(attribute.0.get(2..).unwrap_or_default()).into_owned();
        if kind == COMMON_NAME {
            return Some(text());
        }
        if kind == ORGANIZATION {
            organization = Some(text());
        }
    }
    organization
}

#[derive(Default)]
struct Names {
    uris: Vec<String>,
    dns: Vec<String>,
    addresses: Vec<IpAddr>,
}

fn address(octets: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(octets).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).ok()
}

/// The alternative names in a list of extensions.
fn names(content: &[u8]) -> Option<Names> {
    let mut extensions = Der(Der(content).content(SEQUENCE)?);
    while let Some((tag, extension)) = extensions.element() {
        let mut extension = Der((tag == SEQUENCE).then_some(extension)?);
        if extension.content(OBJECT)? != ALTERNATIVE_NAMES {
            continue;
        }
        extension.optional(BOOLEAN);
        return alternative_names(extension.content(OCTETS)?);
    }
    extensions.0.is_empty().then(Names::default)
}

fn alternative_names(octets: &[u8]) -> Option<Names> {
    let (mut list, mut names) = (Der(Der(octets).content(SEQUENCE)?), Names::default());
    while let Some((tag, name)) = list.element() {
        // With any other character in it, a name could be read as two or as another one.
        let text = name.iter().all(u8::is_ascii_graphic).then(|| String::from_utf8_lossy(name));
        match (tag, text) {
            (DNS_NAME, Some(text)) => names.dns.push(text.to_ascii_lowercase()),
            (URI, Some(text)) => names.uris.push(text.into_owned()),
            (ADDRESS, _) => names.addresses.extend(address(name)),
            _ => {}
        }
    }
    list.0.is_empty().then_some(names)
}

/// Elements of DER that are left to read.
struct Der<'d>(&'d [u8]);

impl<'d> Der<'d> {
    /// The tag of the next element, and its content.
    fn element(&mut self) -> Option<(u8, &'d [u8])> {
        let (&[tag, length], rest) = self.0.split_first_chunk()?;
        let (length, rest) = match length {
            0..=0x7f => (usize::from(length), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// The content of the next element, which must have this tag.
    fn content(&mut self, tag: u8) -> Option<&'d [u8]> {
        self.element().and_then(|(found, content)| (found == tag).then_some(content))
    }

    /// Skips the next element if it has this tag.
    fn optional(&mut self, tag: u8) {
        if self.0.first() == Some(&tag) {
            self.element();
        }
    }
}

/// A time in seconds since 1970. Certificates have it in UTC, with seconds (RFC 5280, 4.1.2.5).
fn time((tag, text): (u8, &[u8])) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let digits = match tag {
        UTC_TIME if text.len() == 12 => {
            let century = if text.get(..2)? < "50" { "20" } else { "19" };
            format!("{century}{text}")
        }
        GENERALIZED_TIME if text.len() == 14 => text.to_owned(),
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
    // Days since 1970 of a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    // What began before 1970 began at 0.
    Some(u64::try_from(seconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rcgen::string::Ia5String;
    use rcgen::{CertificateParams, KeyPair, SanType, date_time_ymd};

    use super::*;

    fn certificate(names: Vec<SanType>) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.subject_alt_names = names;
        params.not_before = date_time_ymd(2024, 2, 29);
        params.not_after = date_time_ymd(2060, 12, 31);
        let key = KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").der().to_vec()
    }

    fn text(text: &str) -> Ia5String {
        text.to_owned().try_into().expect("ASCII")
    }

    #[test]
    fn names_and_times_are_read() {
        let names = vec![
            SanType::DnsName(text("Agent.Example")),
            SanType::Rfc822Name(text("a@b.example")),
            SanType::URI(text("spiffe://example.org/agent")),
            SanType::DnsName(text("two.example")),
        ];
        let der = certificate(names);
        let read = Certificate::read(&der).expect("a certificate");
        assert_eq!((read.not_before, read.not_after), (1_709_164_800, 2_871_676_800));
        assert_eq!(
            (&read.dns[..], &read.uris[..]),
            (
                &["agent.example".to_owned(), "two.example".to_owned()][..],
                &["spiffe://example.org/agent".to_owned()][..]
            )
        );
        assert_eq!((read.name(), read.is_current()), ("spiffe://example.org/agent".to_owned(), true));
        let nameless = Certificate::read(&certificate(Vec::new())).expect("a certificate");
        assert!(nameless.name() == format!("sha256:{}", nameless.sha256) && nameless.sha256.len() == 43);
    }

    #[test]
    fn names_that_could_be_read_as_others_do_not_count() {
        for name in ["admin\0.evil.example", "admin evil", "admin\n", "\u{7f}"] {
            let names = vec![SanType::DnsName(text(name)), SanType::URI(text(name))];
            let read = Certificate::read(&certificate(names)).expect("a certificate");
            assert!(read.dns.is_empty() && read.uris.is_empty(), "{name:?}");
        }
    }

    #[test]
    fn a_certificate_that_is_cut_or_altered_does_not_panic() {
        let der = certificate(vec![SanType::DnsName(text("a.example"))]);
        for length in 0..der.len() {
            assert!(Certificate::read(&der[..length]).is_none(), "{length}");
            for byte in [0, 0x7f, 0x80, 0xff] {
                let mut altered = der.clone();
                altered[length] = byte;
                let _ = Certificate::read(&altered);
            }
        }
    }
}
