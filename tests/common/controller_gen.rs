//! The real controller-gen, if it and Go are installed.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

/// controller-gen, run on markers in a new Go module.
pub struct ControllerGen(pub PathBuf);

impl ControllerGen {
    /// Finds controller-gen. Reports on stderr if it is missing.
    pub fn find(test: &str) -> Option<Self> {
        let folders = env::var_os("KUBEBUILDER_ASSETS").into_iter().chain(env::var_os("PATH"));
        let folders: Vec<PathBuf> = folders.flat_map(|list| env::split_paths(&list).collect::<Vec<_>>()).collect();
        let find = |binary: &str| folders.iter().map(|folder| folder.join(binary)).find(|path| path.is_file());
        let (Some(binary), Some(_)) = (find("controller-gen"), find("go")) else {
            assert!(env::var_os("OPCTL_TESTS_MUST_RUN").is_none(), "{test} cannot run without controller-gen and go");
            // Not `eprintln!`, which the test harness captures.
            let skipped = "no `controller-gen` in KUBEBUILDER_ASSETS or PATH, or no `go`";
            io::stderr().write_all(format!("SKIPPED {test}: {skipped}\n").as_bytes()).unwrap();
            return None;
        };
        Some(Self(binary))
    }

    /// The file that a generator writes for markers in one package.
    pub fn run(&self, generator: &str, file: &str, markers: &[&str]) -> String {
        let module = tempfile::tempdir().unwrap();
        fs::write(module.path().join("go.mod"), "module example.com/markers\n\ngo 1.21\n").unwrap();
        let comments: String = markers.iter().map(|marker| format!("// {marker}\n")).collect();
        fs::write(module.path().join("markers.go"), format!("package markers\n\n{comments}")).unwrap();
        let output = Command::new(&self.0)
            .args([generator, "paths=./...", "output:dir=out"])
            .current_dir(module.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(module.path().join("out").join(file)).unwrap()
    }
}
