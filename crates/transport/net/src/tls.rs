//! TLS as a client: the system's roots, one more file of them, and verification that cannot be switched off. Knows no
//! protocol above TLS.

mod noting;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::client::Identity;
pub(crate) use noting::Noted;

/// A connector for HTTP that trusts the system's roots and the certificates in the PEM file `ca`, and shows `identity`.
pub(crate) fn connector(ca: Option<&Path>, identity: Option<&Identity>) -> Result<TlsConnector, String> {
    http(ca, identity, None)
}

/// The same, which also notes the certificate that the peer shows, trusted or not.
pub(crate) fn noting_connector(
    ca: Option<&Path>,
    identity: Option<&Identity>,
    noted: &Noted,
) -> Result<TlsConnector, String> {
    http(ca, identity, Some(noted))
}

/// The same for another protocol, without an identity.
pub(crate) fn plain_connector(ca: Option<&Path>) -> Result<TlsConnector, String> {
    Ok(TlsConnector::from(Arc::new(config(ca, None, None)?)))
}

fn http(ca: Option<&Path>, identity: Option<&Identity>, noted: Option<&Noted>) -> Result<TlsConnector, String> {
    let mut config = config(ca, identity, noted)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn config(ca: Option<&Path>, identity: Option<&Identity>, noted: Option<&Noted>) -> Result<ClientConfig, String> {
    let mut roots = native_roots().clone();
    if let Some(path) = ca {
        add_file(&mut roots, path)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let noting = noted.and_then(|noted| noting::verifier(&roots, &provider, noted));
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    let config = match noting {
        Some(verifier) => config.dangerous().with_custom_certificate_verifier(verifier),
        None => config.with_root_certificates(roots),
    };
    match identity {
        None => Ok(config.with_no_client_auth()),
        Some(identity) => {
            let (chain, key) = load(identity)?;
            let unfit = |e: rustls::Error| format!("client certificate {}: {e}", identity.certificate.display());
            config.with_client_auth_cert(chain, key).map_err(unfit)
        }
    }
}

/// The system's roots, read once. A machine without any can still trust a file.
fn native_roots() -> &'static RootCertStore {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    })
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let error = |why: String| format!("CA file {}: {why}", path.display());
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| error(e.to_string()))?;
    let before = roots.len();
    for certificate in certificates {
        let certificate = certificate.map_err(|e| error(e.to_string()))?;
        roots.add(certificate).map_err(|e| error(e.to_string()))?;
    }
    if roots.len() == before { Err(error("holds no certificate".to_owned())) } else { Ok(()) }
}

/// A certificate with those of its issuers, and its key. Errors name files, never what is in them.
fn load(identity: &Identity) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let (certificate, key) = (&identity.certificate, &identity.key);
    let error = |e: pem::Error| format!("client certificate {}: {e}", certificate.display());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate).map_err(error)?.collect();
    let chain = chain.map_err(error)?;
    if chain.is_empty() {
        return Err(format!("client certificate {}: holds no certificate", certificate.display()));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| match e {
        pem::Error::NoItemsFound => format!("client key {}: holds no private key in the clear", key.display()),
        e => format!("client key {}: {e}", key.display()),
    })?;
    Ok((chain, private))
}

/// The error for a peer that does not answer with TLS.
pub(crate) const PLAIN: &str = "the peer does not speak TLS there";

/// The error for a server that presents the certificate of an authority.
pub(crate) const AUTHORITY: &str = "the certificate is an authority's own, not a server's";

/// Explains a failed handshake.
pub(crate) fn explain(error: &std::io::Error) -> String {
    let Some(error) = error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) else {
        return format!("the peer broke the handshake off ({})", error.kind());
    };
    let certificate = match error {
        rustls::Error::InvalidCertificate(why) => why,
        rustls::Error::InvalidMessage(_) => return PLAIN.to_owned(),
        other => return other.to_string(),
    };
    match certificate {
        CertificateError::UnknownIssuer => "the certificate is signed by an issuer that is not trusted".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "the certificate has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is for another host".to_owned()
        }
        // The verifier's error has a private type. `openssl req -x509` makes such certificates.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => AUTHORITY.to_owned(),
        other => format!("bad certificate: {other}"),
    }
}
