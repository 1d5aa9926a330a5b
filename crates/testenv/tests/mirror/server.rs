//! An HTTP/1.1 server on a free port that responds as the test specifies, and records the requests.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The request line and the headers; names of headers are in lowercase.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// The start of the requested range.
    pub fn from(&self) -> usize {
        let from = self.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        from.unwrap_or(0)
    }

    fn read(stream: &mut impl BufRead) -> Option<Self> {
        let mut lines = stream.lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        let first = lines.next()?;
        let mut words = first.split(' ').map(String::from);
        let header =
            |line: String| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().into()));
        Some(Self { method: words.next()?, target: words.next()?, headers: lines.filter_map(header).collect() })
    }
}

/// The state of a connection after the response.
pub enum End {
    Closed,
    Silent,
}

pub struct Server {
    /// `127.0.0.1:PORT`
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `answer` returns the whole response, with headers and body; the connection is then closed.
    pub fn start(answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start_with(move |request| (answer(request), End::Closed))
    }

    pub fn start_with(answer: impl Fn(&Request) -> (Vec<u8>, End) + Send + Sync + 'static) -> Self {
        Self::serve(move |mut stream, note| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let request = Request::read(&mut reader)?;
            note(&request);
            let (answer, end) = answer(&request);
            stream.write_all(&answer).ok()?;
            match end {
                End::Closed => Some(()),
                // Waits until the client closes the connection.
                End::Silent => std::io::copy(&mut reader, &mut std::io::sink()).ok().map(drop),
            }
        })
    }

    /// Like [`start`](Self::start), with TLS.
    pub fn tls(config: rustls::ServerConfig, answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let config = Arc::new(config);
        Self::serve(move |stream, note| {
            let connection = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream);
            let request = Request::read(&mut BufReader::new(&mut stream))?;
            note(&request);
            stream.write_all(&answer(&request)).ok()?;
            stream.conn.send_close_notify();
            stream.flush().ok()
        })
    }

    /// A proxy that forwards all requests to this server.
    pub fn proxy(&self) -> Self {
        let to = self.address.clone();
        Self::serve(move |mut stream, note| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            note(&Request::read(&mut reader)?);
            let mut server = TcpStream::connect(&to).ok()?;
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
            let mut back = (server.try_clone().ok()?, stream.try_clone().ok()?);
            thread::spawn(move || {
                std::io::copy(&mut back.0, &mut back.1).ok();
                back.1.shutdown(std::net::Shutdown::Both)
            });
            std::io::copy(&mut reader, &mut server).ok().map(drop)
        })
    }

    fn serve(work: impl Fn(TcpStream, &dyn Fn(&Request)) -> Option<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let (seen, work) = (requests.clone(), Arc::new(work));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, work) = (seen.clone(), work.clone());
                thread::spawn(move || work(stream, &|request| seen.lock().unwrap().push(request.clone())));
            }
        });
        Self { address, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The requested paths, e.g. `/envtest-releases.yaml`.
    pub fn targets(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.target).collect()
    }
}

/// A complete response: `reply("200 OK", "", b"…")`.
pub fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The file, or the requested range of it.
pub fn file(request: &Request, body: &[u8]) -> Vec<u8> {
    match request.from() {
        0 => reply("200 OK", "", body),
        from if from < body.len() => {
            let range = format!("Content-Range: bytes {from}-{}/{}\r\n", body.len() - 1, body.len());
            reply("206 Partial Content", &range, &body[from..])
        }
        _ => reply("416 Range Not Satisfiable", "", b""),
    }
}

/// The response, without its last bytes.
pub fn cut(mut answer: Vec<u8>, bytes: usize) -> Vec<u8> {
    answer.truncate(answer.len() - bytes);
    answer
}

/// An address without a listener: only root may listen on this port, while a free port might be taken at any time.
pub fn closed() -> String {
    "127.0.0.1:1".into()
}
