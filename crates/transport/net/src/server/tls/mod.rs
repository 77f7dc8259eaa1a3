//! TLS as a server: the certificate that is shown, and the certificates that clients must show. Knows no protocol above TLS.

mod certificate;

use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::digest::{Context, SHA256};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};

pub use self::certificate::{Certificate, Described};

/// The largest file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The files of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    /// The certificate and those of its issuers, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
    /// Whose certificates clients show; without this, no client is asked for one.
    pub clients: Option<ClientCertificates>,
}

/// Which certificates of clients are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificates {
    /// Certificates of the authorities that sign them, in PEM. The system's authorities count for nothing here.
    pub roots: PathBuf,
    /// Whether a client without a certificate is refused.
    pub required: bool,
}

/// Why the files of a listener cannot be used. Names files, never what is in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFileError(String);

impl fmt::Display for TlsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsFileError {}

/// What a listener shows to new connections, and demands of them. Files that are read again do not touch open connections.
pub struct ServerTls(Mutex<Current>);

struct Current {
    /// The files that were asked for last, good or bad.
    asked: TlsSettings,
    config: Arc<ServerConfig>,
    certificate: Certificate,
    /// SHA-256 of what was read last, good or bad.
    seen: Vec<u8>,
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTls").field("files", &self.lock().asked).finish_non_exhaustive()
    }
}

impl ServerTls {
    /// Reads the files, and checks that they can be used: the key is the certificate's, and the certificate is valid now.
    pub fn read(settings: &TlsSettings) -> Result<Self, TlsFileError> {
        Files::read(settings)?.check(settings).map(|current| Self(Mutex::new(current)))
    }

    /// Reads these files, or else the same ones again; whether anything changed. Files that cannot be used change nothing, and
    /// without a change of theirs they are reported once.
    pub fn renew(&self, settings: Option<&TlsSettings>) -> Result<bool, TlsFileError> {
        let asked = settings.cloned().unwrap_or_else(|| self.lock().asked.clone());
        let files = Files::read(&asked);
        let mut current = self.lock();
        let is_new = current.asked != asked;
        current.asked.clone_from(&asked);
        let seen = files.as_ref().map_or_else(|error| error.0.as_bytes(), |files| &files.seen);
        if current.seen == seen && !is_new {
            return Ok(false);
        }
        current.seen = seen.to_vec();
        *current = files?.check(&asked)?;
        Ok(true)
    }

    /// The certificate that is shown to new connections.
    pub fn certificate(&self) -> Certificate {
        self.lock().certificate.clone()
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.lock().config)
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether other users of this machine may read a file.
pub fn is_readable_by_others(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.permissions().mode() & 0o007 != 0)
}

/// What the files hold.
struct Files {
    certificate: Vec<u8>,
    key: Vec<u8>,
    roots: Option<Vec<u8>>,
    seen: Vec<u8>,
}

impl Files {
    fn read(settings: &TlsSettings) -> Result<Self, TlsFileError> {
        let roots = settings.clients.as_ref().map(|clients| bytes(&clients.roots)).transpose()?;
        let (certificate, key) = (bytes(&settings.certificate)?, bytes(&settings.key)?);
        let mut seen = Context::new(&SHA256);
        for part in [&certificate, &key].into_iter().chain(&roots) {
            seen.update(&part.len().to_be_bytes());
            seen.update(part);
        }
        let seen = seen.finish().as_ref().to_vec();
        Ok(Self { certificate, key, roots, seen })
    }

    fn check(self, settings: &TlsSettings) -> Result<Current, TlsFileError> {
        let bad = |file: &Path, why: &str| TlsFileError(format!("{}: {why}", file.display()));
        let of_pair = |why: &str| bad(&settings.certificate, why);
        let chain = certificates(&self.certificate).map_err(|why| of_pair(&why))?;
        let certificate = chain.first().and_then(|first| Certificate::read(first));
        let certificate = certificate.ok_or_else(|| of_pair("the certificate cannot be read"))?;
        if !certificate.is_current() {
            return Err(of_pair("the certificate has expired, or is not valid yet"));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|_| bad(&settings.key, "holds no private key without a passphrase"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsFileError(error.to_string()))?;
        let config = match (&settings.clients, self.roots) {
            (Some(clients), Some(roots)) => {
                let verifier = verifier(clients, &roots, provider).map_err(|why| bad(&clients.roots, &why))?;
                config.with_client_cert_verifier(verifier)
            }
            _ => config.with_no_client_auth(),
        };
        let mut config = config.with_single_cert(chain, key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => bad(&settings.key, "is not the key of the certificate"),
            error => of_pair(&error.to_string()),
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if settings.clients.is_some() {
            // A resumed session would bring a certificate that is not verified again.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Current { asked: settings.clone(), config: Arc::new(config), certificate, seen: self.seen })
    }
}

fn verifier(
    clients: &ClientCertificates,
    roots: &[u8],
    provider: Arc<rustls::crypto::CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut store = RootCertStore::empty();
    for root in certificates(roots)? {
        store.add(root).map_err(|error| error.to_string())?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider);
    let verifier = if clients.required { verifier } else { verifier.allow_unauthenticated() };
    verifier.build().map_err(|error| error.to_string())
}

fn bytes(file: &Path) -> Result<Vec<u8>, TlsFileError> {
    let bad = |why: String| TlsFileError(format!("{}: {why}", file.display()));
    let mut bytes = Vec::new();
    let opened = crate::open_regular(file).map_err(|error| bad(error.to_string()))?;
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| bad(error.to_string()))?;
    if bytes.len() as u64 > LARGEST { Err(bad("is larger than 1 MiB".to_owned())) } else { Ok(bytes) }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|_| "is not PEM".to_owned())?;
    if found.is_empty() { Err("holds no certificate".to_owned()) } else { Ok(found) }
}
