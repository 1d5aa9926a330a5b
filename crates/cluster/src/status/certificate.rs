//! The expiry of the certificates that the API server trusts for a webhook.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use x509_parser::pem::Pem;

/// The expiry of the last certificate of a `caBundle`, in seconds since 1970.
///
/// # Errors
///
/// If it contains no certificate.
pub fn expiry(bundle: &Value) -> Result<i64, String> {
    let text = bundle.as_str().unwrap_or_default();
    let pem = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let mut last = None;
    for block in Pem::iter_from_buffer(&pem) {
        let block = block.map_err(|error| error.to_string())?;
        let certificate = block.parse_x509().map_err(|error| error.to_string())?;
        last = last.max(Some(certificate.validity().not_after.timestamp()));
    }
    last.ok_or_else(|| "it has no certificate".to_owned())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_certificate_counts() {
        let of = |year| {
            let mut params = CertificateParams::new(["a.b.svc".to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, 1, 1);
            params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
        };
        let bundle = |text: String| json!(STANDARD.encode(text));
        assert_eq!(expiry(&bundle(of(2030) + &of(2026))), Ok(1_893_456_000));
        assert!(expiry(&bundle(String::new())).is_err());
        assert!(expiry(&json!("?")).is_err());
    }
}
