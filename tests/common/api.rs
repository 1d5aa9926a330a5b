//! Sends JSON requests to an API server through `kubectl proxy`, and reads its etcd.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;

pub struct Api {
    proxy: Child,
    http: Http,
}

/// An unencrypted connection.
struct Http(BufReader<TcpStream>);

impl Api {
    pub fn of(cluster: &ControlPlane) -> Self {
        let mut proxy = Command::new(&cluster.kubectl)
            .args(["proxy", "--port=0"])
            .env("KUBECONFIG", &cluster.kubeconfig)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap();
        Self { proxy, http: Http::to(address) }
    }

    /// The response to `POST path`.
    pub fn post(&mut self, path: &str, body: &Value) -> Value {
        self.http.request("POST", path, "application/json", Some(body))
    }

    pub fn get(&mut self, path: &str) -> Value {
        self.http.request("GET", path, "application/json", None)
    }

    /// The response to a merge patch.
    pub fn patch(&mut self, path: &str, body: &Value) -> Value {
        self.http.request("PATCH", path, "application/merge-patch+json", Some(body))
    }

    /// The response to a forced server-side apply.
    pub fn apply(&mut self, path: &str, body: &Value) -> Value {
        let path = format!("{path}?fieldManager=tests&force=true");
        self.http.request("PATCH", &path, "application/apply-patch+yaml", Some(body))
    }

    /// The response to `DELETE path`.
    pub fn delete(&mut self, path: &str) -> Value {
        self.http.request("DELETE", path, "application/json", None)
    }
}

/// The path of CRDs.
pub const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The object in a response, or the reason of the error.
pub fn object(answer: Value) -> Result<Value, String> {
    match &answer {
        Value::String(text) => Err(text.clone()),
        _ if answer["kind"] == "Status" && answer["status"] == "Failure" => Err(answer["message"].to_string()),
        _ => Ok(answer),
    }
}

/// The entries of etcd below a prefix: the key, the number of writes, and the value.
pub fn stored(cluster: &ControlPlane, prefix: &str) -> Vec<(String, u64, Value)> {
    let encode = |bytes: &[u8]| STANDARD.encode(bytes);
    let decode = |value: &Value| STANDARD.decode(value.as_str().unwrap()).unwrap();
    let etcd = cluster.lock().unwrap().etcd.clone();
    // The end of the range is the first key that does not begin with the prefix.
    let mut end = prefix.as_bytes().to_vec();
    *end.last_mut().unwrap() += 1;
    let body = json!({ "key": encode(prefix.as_bytes()), "range_end": encode(&end) });
    let mut http = Http::to(etcd.trim_start_matches("http://"));
    let answer = http.request("POST", "/v3/kv/range", "application/json", Some(&body));
    let pairs = answer["kvs"].as_array().cloned().unwrap_or_default();
    let of = |pair: Value| {
        let key = String::from_utf8(decode(&pair["key"])).unwrap();
        let writes = pair["version"].as_str().unwrap().parse().unwrap();
        (key, writes, serde_json::from_slice(&decode(&pair["value"])).unwrap())
    };
    pairs.into_iter().map(of).collect()
}

impl Http {
    fn to(address: &str) -> Self {
        let connection = TcpStream::connect(address).unwrap();
        connection.set_nodelay(true).unwrap();
        Self(BufReader::new(connection))
    }

    fn request(&mut self, verb: &str, path: &str, content: &str, body: Option<&Value>) -> Value {
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{verb} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.0.get_mut().write_all((head + &body).as_bytes()).unwrap();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line().to_ascii_lowercase();
            match line.split_once(": ") {
                Some(("content-length", bytes)) => length = bytes.parse().unwrap(),
                Some(("transfer-encoding", "chunked")) => is_chunked = true,
                _ if line.is_empty() => break,
                _ => {}
            }
        }
        let mut answer = Vec::new();
        loop {
            if is_chunked {
                length = usize::from_str_radix(&self.line(), 16).unwrap();
            }
            let start = answer.len();
            answer.resize(start + length, 0);
            self.0.read_exact(&mut answer[start..]).unwrap();
            if is_chunked {
                self.line();
            }
            if !is_chunked || length == 0 {
                // The response for a path that the API server does not serve yet is plain text.
                return serde_json::from_slice(&answer)
                    .unwrap_or_else(|_| String::from_utf8_lossy(&answer).into_owned().into());
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}
