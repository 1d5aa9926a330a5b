//! The views of the steps.
use super::Step;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Apply,
    DryRun,
    Diff,
    Check,
}

pub fn list(_steps: &[Step], _verbose: bool) -> String {
    String::new()
}
pub fn diff(_steps: &[Step]) -> String {
    String::new()
}
