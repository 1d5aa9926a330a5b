use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsTextsOfStd")]
pub struct Spec {
    #[serde(default = "by_letters::d")]
    pub by_letters: Vec<String>,
    #[serde(default = "by_function::d")]
    pub by_function: Vec<String>,
    #[serde(default = "trimmed::d")]
    pub trimmed: String,
    #[serde(default = "splitn::d")]
    pub splitn: Option<u32>,
    #[serde(default = "rsplitn::d")]
    pub rsplitn: String,
    #[serde(default = "indices::d")]
    pub indices: String,
    #[serde(default = "reversed::d")]
    pub reversed: String,
    #[serde(default = "bytes::d")]
    pub bytes: String,
    #[serde(default = "address::d")]
    pub address: std::net::Ipv6Addr,
    #[serde(default = "address_of_bytes::d")]
    pub address_of_bytes: std::net::IpAddr,
    #[serde(default = "socket::d")]
    pub socket: std::net::SocketAddr,
    #[serde(default = "radix::d")]
    pub radix: i8,
    #[serde(default = "letters::d")]
    pub letters: char,
}

mod by_letters {
    pub fn d() -> Vec<String> {
        "a, b;c".split([',', ';']).map(str::trim).map(str::to_string).collect()
    }
}

mod by_function {
    pub fn d() -> Vec<String> {
        "a1b22c".split(|c: char| c.is_ascii_digit()).map(String::from).collect()
    }
}

mod trimmed {
    pub fn d() -> String {
        "xxabcxx".trim_matches('x').trim_start_matches("a").trim_end_matches(char::is_alphabetic).to_string() + "!"
    }
}

mod splitn {
    pub fn d() -> Option<u32> {
        "k=v=w".splitn(2, '=').nth(1).and_then(|s| s.find('=')).map(|n| n as u32)
    }
}

mod rsplitn {
    pub fn d() -> String {
        "a.b.c".rsplitn(2, '.').collect::<Vec<_>>().join("|")
    }
}

mod indices {
    pub fn d() -> String {
        "aXbX".replacen('X', "-", 1) + &"abc".char_indices().map(|(i, c)| format!("{i}{c}")).collect::<String>()
    }
}

mod reversed {
    pub fn d() -> String {
        "hello".chars().rev().collect::<String>()
    }
}

mod bytes {
    pub fn d() -> String {
        String::from_utf8(vec![104, 105]).unwrap()
    }
}

mod address {
    pub fn d() -> std::net::Ipv6Addr {
        "0:0:0:0:0:0:0:1".parse().unwrap()
    }
}

mod address_of_bytes {
    pub fn d() -> std::net::IpAddr {
        [192, 168, 0, 1].into()
    }
}

mod socket {
    pub fn d() -> std::net::SocketAddr {
        "[::1]:0080".parse().unwrap_or_else(|_| "0.0.0.0:80".parse().unwrap())
    }
}

mod radix {
    pub fn d() -> i8 {
        i8::from_str_radix("-80", 16).unwrap()
    }
}

mod letters {
    pub fn d() -> char {
        char::from_digit(7, 10).unwrap()
    }
}
