//! The certificates of a test environment: a CA, and the certificates that it signs for the API server and the
//! administrator.

use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType,
};

/// Certificates and keys in PEM format.
pub struct Pki {
    pub authority: String,
    pub server: Pair,
    /// In the group `system:masters`, which has all permissions.
    pub admin: Pair,
    /// The key pair for tokens of service accounts.
    pub tokens: Pair,
}

pub struct Pair {
    /// The certificate, or the public key for tokens.
    pub public: String,
    pub key: String,
}

impl Pki {
    pub fn make() -> Result<Self, rcgen::Error> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        authority.distinguished_name.push(DnType::CommonName, "opctl testenv");
        let key = KeyPair::generate()?;
        let certificate = authority.self_signed(&key)?.pem();
        let issuer = Issuer::new(authority, key);

        let mut server = CertificateParams::default();
        server.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // For loopback and for the Service `kubernetes`.
        server.subject_alt_names = vec![
            SanType::IpAddress([127, 0, 0, 1].into()),
            SanType::IpAddress([10, 0, 0, 1].into()),
            SanType::DnsName(Ia5String::try_from("localhost")?),
            SanType::DnsName(Ia5String::try_from("kubernetes.default.svc")?),
        ];
        let mut admin = CertificateParams::default();
        admin.distinguished_name.push(DnType::OrganizationName, "system:masters");
        admin.distinguished_name.push(DnType::CommonName, "admin");
        admin.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];

        let tokens = KeyPair::generate()?;
        Ok(Self {
            authority: certificate,
            server: sign(&server, &issuer)?,
            admin: sign(&admin, &issuer)?,
            tokens: Pair { public: tokens.public_key_pem(), key: tokens.serialize_pem() },
        })
    }
}

fn sign(params: &CertificateParams, issuer: &Issuer<'_, KeyPair>) -> Result<Pair, rcgen::Error> {
    let key = KeyPair::generate()?;
    Ok(Pair { public: params.signed_by(&key, issuer)?.pem(), key: key.serialize_pem() })
}
