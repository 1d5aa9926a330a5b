//! The current time, and ages. It determines which findings are reported as outdated, and is passed to the checks as a
//! value.

use jiff::Timestamp;
use serde_json::Value;

/// In seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Now(pub i64);

impl Now {
    pub fn of_clock() -> Self {
        Self(Timestamp::now().as_second())
    }

    /// The seconds since a timestamp of Kubernetes; `None` for invalid ones.
    pub fn since(self, time: &Value) -> Option<i64> {
        let time: Timestamp = time.as_str()?.parse().ok()?;
        Some(self.0 - time.as_second())
    }
}

/// An age in kubectl's format: `45s`, `7m`, `3h`, `12d`.
pub fn age(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds @ 120..7200 => format!("{}m", seconds / 60),
        seconds @ 7200..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_those_of_kubernetes() {
        let now = Now(1_767_225_600);
        assert_eq!(now.since(&json!("2025-12-31T23:59:00Z")), Some(60));
        assert_eq!(now.since(&json!("2025-12-31T23:59:59.123456Z")), Some(1));
        assert_eq!(now.since(&json!("soon")), None);
        assert_eq!([30, 300, 10_000, 864_000].map(age), ["30s", "5m", "2h", "10d"]);
    }
}
