//! A certificate with its own CA: issued, and verified for names and a time.
//!
//! Reads no clock, so that tests can set the time.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};

use crate::server::Certificate;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub const VALID: Duration = DAY.saturating_mul(90);
/// Remaining validity at which it is replaced: a third, so that there is time to fix a failing replacement.
pub const SPARE: Duration = DAY.saturating_mul(30);
/// Tolerance for clocks that are late.
const SKEW: Duration = Duration::from_secs(60 * 60);

pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// A certificate, its key and its CAs, in PEM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    pub leaf: String,
    pub key: String,
    /// The trusted CAs: the one that signed the leaf, then those of leaves that other replicas may still serve.
    pub bundle: String,
}

/// The validity of a pair.
#[derive(Debug)]
pub enum Verdict {
    Good,
    /// Valid now, but less than [`SPARE`] remains.
    Ending,
    Bad(Problem),
}

impl Pair {
    /// Issues a pair, signed by a new CA. The key of the CA is discarded, so the CA cannot sign another certificate.
    pub fn issue(operator: &str, names: &[String], now: SystemTime) -> io::Result<Self> {
        let failure = |why| io::Error::other(format!("cannot issue a certificate for webhooks: {why}"));
        Self::sign(operator, names, now).map_err(failure)
    }

    fn sign(operator: &str, names: &[String], now: SystemTime) -> Result<Self, Problem> {
        let start = date_time_ymd(1970, 1, 1) + (now - SKEW).duration_since(UNIX_EPOCH)?;
        let params = |names: &[String], subject: &str| -> Result<_, rcgen::Error> {
            let mut params = CertificateParams::new(names)?;
            params.distinguished_name.push(DnType::CommonName, subject);
            (params.not_before, params.not_after) = (start, start + VALID);
            Ok(params)
        };
        let mut ca = params(&[], &format!("{operator} webhooks CA"))?;
        ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;
        let mut leaf = params(names, &format!("{operator} webhooks"))?;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        leaf.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        Ok(Self { leaf: leaf.signed_by(&key, &ca)?.pem(), key: key.serialize_pem(), bundle: ca.pem() })
    }

    pub fn verify(&self, names: &[String], now: SystemTime) -> Verdict {
        match (self.check(names, now), self.check(names, now + SPARE)) {
            (Ok(()), Ok(())) => Verdict::Good,
            (Ok(()), Err(_)) => Verdict::Ending,
            (Err(problem), _) => Verdict::Bad(problem),
        }
    }

    pub fn certificate(&self) -> io::Result<Certificate> {
        Certificate::from_pem(self.leaf.as_bytes(), self.key.as_bytes())
    }

    /// Verifies the certificate like the API server.
    fn check(&self, names: &[String], at: SystemTime) -> Result<(), Problem> {
        self.certificate()?;
        let leaf = CertificateDer::from_pem_slice(self.leaf.as_bytes())?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.ca().as_bytes())?)?;
        let provider = ring::default_provider().into();
        let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build()?;
        let at = UnixTime::since_unix_epoch(at.duration_since(UNIX_EPOCH)?);
        for name in names {
            let name = ServerName::try_from(name.as_str())?;
            verifier.verify_server_cert(&leaf, &[], &name, &[], at)?;
        }
        Ok(())
    }

    /// The CA that signed the leaf.
    pub fn ca(&self) -> &str {
        const END: &str = "-----END CERTIFICATE-----\n";
        self.bundle.split_inclusive(END).next().unwrap_or_default()
    }

    /// Adds the CA of `other` to the bundle, so that clients trust both.
    pub fn with(mut self, other: &Self) -> Self {
        if !self.bundle.contains(other.ca()) {
            self.bundle.push_str(other.ca());
        }
        self
    }
}
