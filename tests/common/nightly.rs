//! Slow tests that few changes can break: they run in the nightly workflow.

use crate::extent::takes_all;

/// `true` if the variable has the value `all`; otherwise reports that the test is left to the nightly workflow.
pub fn is_run(test: &str, variable: &str) -> bool {
    let is_run = takes_all(variable);
    if !is_run {
        eprintln!("Left to the nightly workflow: {test}. {variable}=all runs it.");
    }
    is_run
}
