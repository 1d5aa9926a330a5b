//! Ctrl-C and SIGTERM: they end the process at once, except while files are written; then the writing decides.

use std::sync::{Mutex, Once, PoisonError};

/// What 128 + SIGINT says to a shell.
const EXIT_CODE: i32 = 130;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Writing,
    Interrupted,
}

// A mutex rather than an atomic: the handler holds it while it ends the process, so that no writing begins meanwhile.
static STATE: Mutex<State> = Mutex::new(State::Idle);

/// While it lives, a signal is noted instead of ending the process.
pub struct Shield(());

impl Shield {
    pub fn raise() -> Self {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // It fails only if a handler is there already; then that one decides, as it did before.
            let _ = ctrlc::set_handler(|| {
                let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
                match *state {
                    State::Idle => std::process::exit(EXIT_CODE),
                    State::Writing | State::Interrupted => *state = State::Interrupted,
                }
            });
        });
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = State::Writing;
        Self(())
    }

    pub fn is_interrupted(&self) -> bool {
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) == State::Interrupted
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = State::Idle;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_signal_is_noted_while_files_are_written() {
        for signal in ["-INT", "-TERM"] {
            let shield = Shield::raise();
            assert!(!shield.is_interrupted());
            let killed = Command::new("kill").args([signal, &std::process::id().to_string()]).status().unwrap();
            assert!(killed.success());
            let start = Instant::now();
            while !shield.is_interrupted() {
                assert!(start.elapsed() < Duration::from_secs(10), "{signal} was not noted");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
