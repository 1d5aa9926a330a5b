//! IP addresses and CIDR ranges.
//!
//! Source: `pkg/cel/library/ip.go` and `cidr.go` of k8s.io/apiserver, and Go's `net/netip`.

use std::net::IpAddr;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ip(pub IpAddr);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cidr {
    pub ip: Ip,
    pub bits: u32,
}

impl Ip {
    /// Parses an address. Rejects zones and IPv4-mapped IPv6 addresses.
    pub fn parse(text: &str) -> Option<Self> {
        let address: IpAddr = text.parse().ok()?;
        let is_mapped = matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some());
        (!is_mapped).then_some(Self(address))
    }

    pub fn family(self) -> i64 {
        if self.0.is_ipv4() { 4 } else { 6 }
    }

    pub fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
            IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
        }
    }

    pub fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(v4) => v4.is_link_local(),
            IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
        }
    }

    pub fn is_global_unicast(self) -> bool {
        let is_broadcast = matches!(self.0, IpAddr::V4(v4) if v4.is_broadcast());
        !(is_broadcast
            || self.0.is_unspecified()
            || self.0.is_loopback()
            || self.0.is_multicast()
            || self.is_link_local_unicast())
    }

    /// The address as a number, and its length in bits.
    fn number(self) -> (u128, u32) {
        match self.0 {
            IpAddr::V4(v4) => (u32::from(v4).into(), 32),
            IpAddr::V6(v6) => (v6.into(), 128),
        }
    }
}

impl Cidr {
    pub fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.rsplit_once('/')?;
        let ip = Ip::parse(address)?;
        let is_plain = length.bytes().all(|c| c.is_ascii_digit()) && (length.len() == 1 || !length.starts_with('0'));
        let bits = length.parse().ok().filter(|bits| is_plain && *bits <= ip.number().1)?;
        Some(Self { ip, bits })
    }

    pub fn masked(self) -> Self {
        let (number, length) = self.ip.number();
        let kept = u128::MAX.checked_shl(length - self.bits).unwrap_or(0);
        let number = number & kept;
        let address = if length == 32 { IpAddr::V4((number as u32).into()) } else { IpAddr::V6(number.into()) };
        Self { ip: Ip(address), ..self }
    }

    pub fn contains_ip(self, ip: Ip) -> bool {
        self.ip.family() == ip.family() && self.masked().ip == Self { ip, ..self }.masked().ip
    }

    pub fn contains(self, other: Self) -> bool {
        self.bits <= other.bits && self.contains_ip(other.ip)
    }
}
