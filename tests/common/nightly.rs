//! Tests that take minutes and that few changes can break: the nightly workflow runs them.

use crate::extent::takes_all;

/// True if the variable has the value `all`; otherwise it says that the test is left to the nightly workflow.
pub fn is_run(test: &str, variable: &str) -> bool {
    let is_run = takes_all(variable);
    if !is_run {
        eprintln!("Left to the nightly workflow: {test}. {variable}=all runs it.");
    }
    is_run
}
