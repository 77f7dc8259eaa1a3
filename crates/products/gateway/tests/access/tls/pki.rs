//! Authorities and certificates, made on the spot.

use std::path::{Path, PathBuf};

use net::client::Identity;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyPair,
    NameConstraints, SanType, date_time_ymd,
};

/// An authority.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
    name: &'static str,
}

/// What is unusual about a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Usual,
    Expired,
    NotYetValid,
    /// For servers, not for clients.
    ForServers,
}

fn params(made: Made) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, "test");
    (params.not_before, params.not_after) = match made {
        Made::Expired => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1)),
        Made::NotYetValid => (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1)),
        _ => (date_time_ymd(2020, 1, 1), date_time_ymd(2090, 1, 1)),
    };
    params
}

impl Authority {
    /// An authority that may sign for names below `below` only, where that is given.
    pub(super) fn new(folder: &Path, name: &'static str, below: Option<&str>) -> Self {
        let mut params = params(Made::Usual);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.name_constraints = below.map(|below| NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName(below.to_owned())],
            excluded_subtrees: Vec::new(),
        });
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        std::fs::write(folder.join(format!("{name}.pem")), issuer.pem()).expect("a file");
        Self { issuer, folder: folder.to_owned(), name }
    }

    /// The file of its certificate.
    pub(super) fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.pem", self.name))
    }

    /// A certificate for a name, with its key. A name with a colon is a URI.
    pub(super) fn signs(&self, name: &str, made: Made) -> Identity {
        let mut params = params(made);
        let text = name.to_owned().try_into().expect("ASCII");
        params.subject_alt_names = match name.parse() {
            Ok(ip) => vec![SanType::IpAddress(ip)],
            Err(_) if name.contains(':') => vec![SanType::URI(text)],
            Err(_) => vec![SanType::DnsName(text)],
        };
        let is_server = made == Made::ForServers || name == "127.0.0.1";
        let usage = if is_server { ExtendedKeyUsagePurpose::ServerAuth } else { ExtendedKeyUsagePurpose::ClientAuth };
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let file = |end: &str| {
            let safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            self.folder.join(format!("{}-{safe}-{made:?}.{end}", self.name))
        };
        let identity = Identity { certificate: file("pem"), key: file("key") };
        std::fs::write(&identity.certificate, certificate.pem()).expect("a file");
        std::fs::write(&identity.key, key.serialize_pem()).expect("a file");
        identity
    }
}
