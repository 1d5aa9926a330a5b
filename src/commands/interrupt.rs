//! Ctrl-C: before anything is written it ends opctl at once; while files are being written it waits until all are.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while files are written.
static WRITING: Mutex<()> = Mutex::new(());

/// The exit code of a program that SIGINT ended, as shells give it.
pub const EXIT_CODE: i32 = 130;

/// Makes SIGINT, SIGTERM and SIGHUP end opctl with every file either as before or as planned.
pub fn install() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        let _writing = hold();
        std::process::exit(EXIT_CODE);
    })
}

/// Puts interrupts off until the guard is dropped.
pub fn hold() -> MutexGuard<'static, ()> {
    // A poisoned lock means that writing panicked; there is nothing left to wait for.
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}
