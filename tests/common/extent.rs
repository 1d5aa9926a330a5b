//! The extent of tests that take samples. The nightly workflow sets variables such as OPCTL_VERSIONS to `all`.

/// `true` if the variable has the value `all`.
pub fn takes_all(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "all")
}
