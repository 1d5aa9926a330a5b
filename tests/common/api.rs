//! An API server's own words: requests of JSON to it, by way of `kubectl proxy`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::control_plane::ControlPlane;

pub struct Api {
    proxy: Child,
    connection: BufReader<TcpStream>,
}

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
        let connection = TcpStream::connect(address).unwrap();
        connection.set_nodelay(true).unwrap();
        Self { proxy, connection: BufReader::new(connection) }
    }

    /// The answer to `POST path`.
    pub fn post(&mut self, path: &str, body: &Value) -> Value {
        self.request("POST", path, "application/json", Some(body))
    }

    pub fn get(&mut self, path: &str) -> Value {
        self.request("GET", path, "application/json", None)
    }

    /// The answer to a merge patch.
    pub fn patch(&mut self, path: &str, body: &Value) -> Value {
        self.request("PATCH", path, "application/merge-patch+json", Some(body))
    }

    fn request(&mut self, verb: &str, path: &str, content: &str, body: Option<&Value>) -> Value {
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{verb} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.connection.get_mut().write_all((head + &body).as_bytes()).unwrap();
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
            self.connection.read_exact(&mut answer[start..]).unwrap();
            if is_chunked {
                self.line();
            }
            if !is_chunked || length == 0 {
                return serde_json::from_slice(&answer).unwrap();
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.connection.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}
