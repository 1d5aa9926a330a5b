//! Attacks a webhook server on the loopback interface, and prints how much memory it takes and how long others wait:
//! `cargo run --release --example attack --features latest`. Takes about a minute; needs Linux, and `ulimit -n 11000`.

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, Config};
use opctl_runtime::webhook::{self, Rejection, Request, Validating, Warnings};
use opctl_runtime::{Context, Options, operator};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

const IDLE: usize = 10_000;
const BODIES: usize = 40;
const SIZE: usize = 7 << 20;
const PATH: &str = "/validate";

#[derive(Parser)]
struct Arguments {
    /// Serve with the certificate in this folder, until stdin ends
    #[arg(long)]
    serve: Option<std::path::PathBuf>,
    #[command(flatten)]
    options: Options,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { serve: folder, options } = Arguments::parse();
    let ended = match folder {
        Some(folder) => serve(options, &folder).await,
        None => attack().await,
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn allow(_: &ConfigMap, _: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    Ok(Warnings::new())
}

async fn serve(mut options: Options, folder: &Path) -> Result<()> {
    options.webhook.webhook_cert_dir = Some(folder.to_owned());
    let client = Client::try_from(Config::new("http://127.0.0.1:1".parse()?))?;
    let ctx = Context::new(client, operator!(), options);
    let stop = ctx.clone();
    std::thread::spawn(move || {
        let _ = io::stdin().read_line(&mut String::new());
        stop.stop();
    });
    let server = webhook::server(vec![Validating::new(PATH).create(allow).into()]);
    Ok(server.run(ctx).await?)
}

/// The process under attack.
struct Target {
    process: Child,
    address: SocketAddr,
    config: Arc<ClientConfig>,
}

impl Target {
    async fn start(folder: &Path) -> Result<Self> {
        let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        std::fs::write(folder.join("tls.crt"), issued.cert.pem())?;
        std::fs::write(folder.join("tls.key"), issued.signing_key.serialize_pem())?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(issued.cert.pem().as_bytes())?)?;
        let config = ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();

        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--serve").arg(folder).arg(format!("--webhook-bind-address={address}"));
        let process = command.stdin(Stdio::piped()).spawn()?;
        let target = Self { process, address, config: config.into() };
        let ready = async { while target.ask(OTHER).await.is_err() {} };
        timeout(Duration::from_secs(10), ready).await.map_err(|_| "the server does not start")?;
        Ok(target)
    }

    async fn connect(&self, client: [u8; 4]) -> Result<TlsStream<TcpStream>> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((client, 0).into())?;
        let stream = socket.connect(self.address).await?;
        Ok(TlsConnector::from(self.config.clone()).connect("localhost".try_into()?, stream).await?)
    }

    /// Time that a well-behaved client waits for a response.
    async fn ask(&self, client: [u8; 4]) -> Result<Duration> {
        let start = Instant::now();
        let review = review(r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#);
        let mut stream = self.connect(client).await?;
        stream.write_all(head(review.len()).as_bytes()).await?;
        stream.write_all(review.as_bytes()).await?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await?;
        if &answer != b"HTTP/1.1 200" {
            return Err(String::from_utf8_lossy(&answer).into());
        }
        Ok(start.elapsed())
    }

    /// Current and maximum resident memory, in MiB.
    fn memory(&self) -> Result<[usize; 2]> {
        let file = std::fs::File::open(format!("/proc/{}/status", self.process.id()))?;
        let mut found = [0; 2];
        for line in BufReader::new(file).lines() {
            let line = line?;
            for (name, value) in ["VmRSS:", "VmHWM:"].iter().zip(&mut found) {
                if let Some(text) = line.strip_prefix(name) {
                    *value = text.trim().trim_end_matches(" kB").parse::<usize>()? >> 10;
                }
            }
        }
        Ok(found)
    }

    async fn report(&self, what: &str) -> Result<()> {
        let mut waits = Vec::new();
        for client in [ATTACKER, OTHER].repeat(10) {
            let asked = timeout(Duration::from_secs(10), self.ask(client)).await;
            waits.push(asked.map_err(|_| "no answer within 10 s".into()).flatten());
        }
        let failed = waits.iter().filter(|wait| wait.is_err()).count();
        let longest = waits.iter().flatten().max().copied().unwrap_or_default();
        let [now, most] = self.memory()?;
        println!("{what:<50} {now:>6} {most:>6} {:>10} {failed:>6}", format!("{longest:.0?}"));
        io::stdout().flush()?;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const ATTACKER: [u8; 4] = [127, 0, 0, 1];
const OTHER: [u8; 4] = [127, 0, 0, 2];

fn head(size: usize) -> String {
    format!("POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n")
}

fn review(object: &str) -> String {
    let kind = r#"{"group":"","version":"v1","kind":"ConfigMap"}"#;
    let resource = r#"{"group":"","version":"v1","resource":"configmaps"}"#;
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"1","kind":{kind},"resource":{resource},"name":"a","operation":"CREATE","userInfo":{{}},"object":{object}}}}}"#
    )
}

/// Sends `body` as the beginning of a body of `size` bytes, on `count` connections.
async fn send(target: &Target, count: usize, body: &[u8], size: usize) -> Vec<TlsStream<TcpStream>> {
    let send = async || {
        let mut stream = target.connect(ATTACKER).await.ok()?;
        stream.write_all(head(size).as_bytes()).await.ok()?;
        let _ = timeout(Duration::from_secs(2), stream.write_all(body)).await;
        let _ = timeout(Duration::from_secs(2), stream.flush()).await;
        Some(stream)
    };
    join_all((0..count).map(|_| send())).await.into_iter().flatten().collect()
}

async fn attack() -> Result<()> {
    println!("{:<50} {:>6} {:>6} {:>10} {:>6}", "", "MiB", "most", "others", "failed");
    let folder = tempfile::tempdir()?;
    let start = async || Target::start(folder.path()).await;

    let target = start().await?;
    target.report("at rest").await?;
    let mut held = Vec::new();
    for _ in 0..IDLE / 100 {
        held.extend(join_all((0..100).map(|_| target.connect(ATTACKER))).await.into_iter().flatten());
    }
    target.report(&format!("{IDLE} idle TLS connections")).await?;
    drop(held);

    let target = start().await?;
    let mut silent = Vec::new();
    for _ in 0..IDLE {
        silent.extend(TcpStream::connect(target.address).await);
    }
    target.report(&format!("{IDLE} connections without a handshake")).await?;
    drop(silent);

    let target = start().await?;
    let held = send(&target, BODIES, &vec![b' '; SIZE - (1 << 10)], SIZE).await;
    target.report(&format!("{BODIES} bodies of 7 MiB, half-sent")).await?;
    drop(held);

    let target = start().await?;
    let held = send(&target, BODIES, &vec![b' '; SIZE], SIZE).await;
    target.report(&format!("{BODIES} bodies of 7 MiB")).await?;
    drop(held);

    let target = start().await?;
    let object = |count| review(&format!(r#"{{"metadata":{{}},"data":"x","other":[{}0]}}"#, "0,".repeat(count)));
    let (many, most) = (object(1_000_000), object((SIZE - (1 << 10)) / 2));
    let held = send(&target, BODIES, many.as_bytes(), many.len()).await;
    target.report(&format!("{BODIES} reviews of a million values")).await?;
    drop(held);
    let held = send(&target, BODIES, most.as_bytes(), most.len()).await;
    target.report(&format!("{BODIES} reviews of 7 MiB of values")).await?;
    drop(held);

    let target = start().await?;
    let flood = async {
        loop {
            let sent = join_all((0..20).map(|_| target.connect(ATTACKER))).await;
            drop(sent);
        }
    };
    let reported = async {
        sleep(Duration::from_secs(1)).await;
        target.report("handshakes without an end").await
    };
    tokio::select! {
        () = flood => Ok(()),
        reported = reported => reported,
    }
}
