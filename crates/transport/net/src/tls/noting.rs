//! Notes the certificate that a server shows, for people who want to know why it is not trusted. Must not decide: every
//! question goes to the verifier that every other connection has.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The certificate of the last handshake, in DER.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted(Arc<Mutex<Option<Vec<u8>>>>);

impl Noted {
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The verifier; `None` where no root is trusted, for which it cannot be built.
pub(super) fn verifier(
    roots: &RootCertStore,
    provider: &Arc<CryptoProvider>,
    noted: &Noted,
) -> Option<Arc<dyn ServerCertVerifier>> {
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots.clone()), provider.clone()).build().ok()?;
    Some(Arc::new(Noting { inner, noted: noted.clone() }))
}

#[derive(Debug)]
struct Noting {
    inner: Arc<WebPkiServerVerifier>,
    noted: Noted,
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        *self.noted.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(end_entity.to_vec());
        self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
