//! Programs of a control plane that crash and come again.

use crate::control_plane::ControlPlane;

impl ControlPlane {
    /// As a crash would; it must run.
    pub fn kill(&self, program: &str) {
        assert!(self.environment.lock().unwrap().kill(program), "{program} does not run");
    }

    /// With its data, and at its address.
    pub fn start_again(&self, program: &str) {
        self.environment.lock().unwrap().start_again(program).unwrap();
    }
}
