//! Runs kubectl with arguments and standard input, and returns its standard output or its error output.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use opctl_process::{Child, quoted};

/// The kubectl command, and the cluster that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubectl {
    pub program: PathBuf,
    /// Arguments before all others, if kubectl is part of another program, as in `minikube kubectl --`.
    pub leading: Vec<String>,
    /// The context. Default: the current one of the kubeconfig.
    pub context: Option<String>,
    /// Default: KUBECONFIG, or kubectl's default.
    pub kubeconfig: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum KubectlError {
    #[error("cannot find the program `{0}`")]
    Missing(String),

    #[error("cannot start `{program}`: {reason}")]
    NotStarted { program: String, reason: io::Error },

    /// `stderr` is the error output without a trailing newline, or the exit status if it is empty.
    #[error("`{command}` failed: {stderr}")]
    Failed { command: String, stderr: String },
}

/// The output of a successful kubectl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubectlOutput {
    pub stdout: String,
    /// Warnings of the API server.
    pub warnings: Vec<String>,
}

impl Kubectl {
    /// Runs kubectl and returns standard output.
    pub fn output(&self, arguments: &[&str], stdin: &str) -> Result<String, KubectlError> {
        Ok(self.run(arguments, stdin)?.stdout)
    }

    /// Runs kubectl and returns standard output and warnings.
    pub fn run(&self, arguments: &[&str], stdin: &str) -> Result<KubectlOutput, KubectlError> {
        let (output, error) = self.run_to_the_end(arguments, stdin)?;
        error.map_or(Ok(output), Err)
    }

    /// Also returns the output of a failed command, because kubectl continues with the next object after an error.
    pub fn run_to_the_end(
        &self,
        arguments: &[&str],
        stdin: &str,
    ) -> Result<(KubectlOutput, Option<KubectlError>), KubectlError> {
        let mut command = self.command(arguments);
        let child = Child::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut child = child.map_err(|reason| self.not_started(reason))?;
        let pipe = child.stdin();
        let output = thread::scope(|scope| {
            // Written in parallel with reading, to avoid a deadlock of full pipes. A command that exits early reports
            // the reason itself.
            scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(stdin.as_bytes())));
            child.output()
        });
        let output = output.map_err(|reason| self.not_started(reason))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let error = (!output.status.success()).then(|| {
            let lines: Vec<&str> = stderr.lines().filter(|line| !is_log(line)).collect();
            let stderr = lines.join("\n").trim_end().to_owned();
            let stderr = if stderr.is_empty() { output.status.to_string() } else { stderr };
            KubectlError::Failed { command: self.shown(arguments), stderr }
        });
        let warnings = stderr.lines().filter_map(|line| line.strip_prefix("Warning: ")).map(String::from).collect();
        Ok((KubectlOutput { stdout: String::from_utf8_lossy(&output.stdout).into_owned(), warnings }, error))
    }

    /// The command as a user would type it.
    pub fn shown(&self, arguments: &[&str]) -> String {
        let command = self.command(arguments);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
        words.join(" ")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.leading).args(arguments);
        if let Some(context) = &self.context {
            command.args(["--context", context]);
        }
        if let Some(kubeconfig) = &self.kubeconfig {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        command
    }

    fn not_started(&self, reason: io::Error) -> KubectlError {
        let program = self.program.display().to_string();
        match reason.kind() {
            io::ErrorKind::NotFound => KubectlError::Missing(program),
            _ => KubectlError::NotStarted { program, reason },
        }
    }
}

/// A line of client-go's log, which repeats the error: `E1122 12:40:35.123456   42 memcache.go:265] …`.
fn is_log(line: &str) -> bool {
    let head = line.as_bytes().get(..6);
    head.is_some_and(|head| b"IWE".contains(&head[0]) && head[1..5].iter().all(u8::is_ascii_digit) && head[5] == b' ')
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn kubectl(program: &str, leading: &[&str]) -> Kubectl {
        let leading = leading.iter().map(ToString::to_string).collect();
        Kubectl { program: program.into(), leading, context: None, kubeconfig: None }
    }

    #[test]
    fn returns_stdout_or_an_error_with_stderr() {
        let shell = kubectl("sh", &["-c"]);
        let long = "x".repeat(1 << 20);
        assert_eq!(shell.output(&["cat"], &long).unwrap(), long);
        // The command exits without reading its input.
        assert_eq!(shell.output(&["echo yes"], &long).unwrap(), "yes\n");
        let error = shell.output(&["echo no >&2; exit 3"], "").unwrap_err();
        assert_eq!(error.to_string(), "`sh -c 'echo no >&2; exit 3'` failed: no");
        assert_eq!(shell.output(&["exit 3"], "").unwrap_err().to_string(), "`sh -c 'exit 3'` failed: exit status: 3");
        let error = kubectl("/nowhere/kubectl", &[]).output(&["version"], "").unwrap_err();
        assert!(matches!(&error, KubectlError::Missing(program) if program == "/nowhere/kubectl"), "{error}");
        let warned = shell.run(&["echo yes; echo 'Warning: old' >&2; echo else >&2"], "").unwrap();
        assert_eq!(warned, KubectlOutput { stdout: "yes\n".into(), warnings: vec!["old".into()] });
        let error = shell.output(&["echo 'E1122 12:40:35.1 4 x.go:2] no' >&2; echo no >&2; exit 1"], "").unwrap_err();
        assert!(error.to_string().ends_with(" failed: no"), "{error}");
    }

    #[test]
    fn a_context_and_a_kubeconfig_are_passed_on() {
        let kubectl = Kubectl {
            context: Some("my cluster".into()),
            kubeconfig: Some("/tmp/config".into()),
            ..kubectl("minikube", &["kubectl", "--"])
        };
        let shown = "minikube kubectl -- get pods --context 'my cluster' --kubeconfig /tmp/config";
        assert_eq!(kubectl.shown(&["get", "pods"]), shown);
    }
}
