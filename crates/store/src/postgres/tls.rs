//! Encrypted connections, with libpq's `sslmode` (PostgreSQL 15's manual, 34.19).

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How far a connection is to be protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// How a connection is protected: the mode, and the files that it takes.
#[derive(Clone, Debug)]
pub(super) struct Security {
    mode: Mode,
    roots: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Security {
    pub(super) fn new(
        mode: &str,
        roots: Option<PathBuf>,
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
    ) -> Result<Self, String> {
        let mode = match mode {
            "disable" => Mode::Disable,
            "allow" => Mode::Allow,
            "prefer" => Mode::Prefer,
            "require" => Mode::Require,
            "verify-ca" => Mode::VerifyCa,
            "verify-full" => Mode::VerifyFull,
            other => return Err(format!("sslmode={other} is not known")),
        };
        if roots.is_none() && matches!(mode, Mode::VerifyCa | Mode::VerifyFull) {
            return Err("verifying the server needs its root certificate: sslrootcert=FILE".to_owned());
        }
        Ok(Self { mode, roots, certificate, key })
    }

    /// Returns the ways to connect, to be tried one after the other.
    pub(super) fn attempts(&self) -> &'static [SslMode] {
        match self.mode {
            Mode::Disable => &[SslMode::Disable],
            Mode::Allow => &[SslMode::Disable, SslMode::Require],
            Mode::Prefer => &[SslMode::Prefer],
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => &[SslMode::Require],
        }
    }

    /// Returns what makes encrypted connections. Nothing random is drawn before the server has agreed to one.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let chain = match (&self.roots, self.mode) {
            (_, Mode::Disable | Mode::Allow | Mode::Prefer) | (None, _) => None,
            // As in libpq, requiring encryption with a root certificate at hand verifies the chain.
            (Some(roots), Mode::Require | Mode::VerifyCa | Mode::VerifyFull) => {
                let known = Arc::new(read_roots(roots)?);
                let chain = WebPkiServerVerifier::builder_with_provider(known, provider.clone()).build();
                Some(chain.map_err(|error| format!("{}: {error}", roots.display()))?)
            }
        };
        let verifier: Arc<dyn ServerCertVerifier> = match chain {
            Some(chain) if self.mode == Mode::VerifyFull => chain,
            chain => Arc::new(Lenient { provider: provider.clone(), chain }),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", key.display());
                let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(&error))?;
                let chain = read_certificates(certificate)?;
                config.with_client_auth_cert(chain, secret).map_err(|error| wrong(&error))?
            }
            _ => config.with_no_client_auth(),
        };
        Ok(MakeRustlsConnect::new(config))
    }
}

fn read_roots(path: &PathBuf) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates(path)? {
        roots.add(certificate).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(roots)
}

fn read_certificates(path: &PathBuf) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
    certificates.map(|certificate| certificate.map_err(|error| wrong(&error))).collect()
}

/// Verifies less than a name in a chain that ends with a root certificate.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    /// What the chain is verified with, for any name: `verify-ca`. Without it any certificate is taken: the connection is
    /// encrypted, and nobody knows to whom.
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // The name is looked at last, once the chain has proved good.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
