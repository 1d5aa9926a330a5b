//! The slot of an object: a range of the hash of its uid, or of its namespace.

use std::str::FromStr;

use kube::api::ObjectMeta;

/// Number of slots: a power of two from 2 to 256.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SlotCount(u16);

/// A slot, counted from 0.
pub(crate) type Slot = u16;

/// The field of an object that decides its slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum ShardBy {
    /// Its uid: objects are spread evenly.
    Object,
    /// Its namespace: the objects of a namespace, and their children, are in one slot.
    Namespace,
}

impl SlotCount {
    /// The number.
    pub fn get(self) -> u16 {
        self.0
    }

    pub(crate) fn all(self) -> impl Iterator<Item = Slot> {
        0..self.0
    }

    /// The slot of a hash: its highest bits, so that a slot is a range of hashes.
    fn of(self, hash: u64) -> Slot {
        let slot = hash >> (u64::BITS - self.0.trailing_zeros());
        Slot::try_from(slot).expect("it has as many bits as the number of slots")
    }

    /// The slot of a text, such as a uid.
    pub(crate) fn of_text(self, text: &str) -> Slot {
        self.of(fnv1a(text))
    }

    /// The hashes of these slots in the syntax of the API server's parameter `shardSelector`. Adjacent slots are one
    /// range. `slots` are in order.
    pub(crate) fn selector(self, by: ShardBy, slots: impl IntoIterator<Item = Slot>) -> String {
        let mut ranges: Vec<(u128, u128)> = Vec::new();
        let width = (1_u128 << u64::BITS) / u128::from(self.0);
        for slot in slots {
            let start = u128::from(slot) * width;
            match ranges.last_mut() {
                Some((_, end)) if *end == start => *end += width,
                _ => ranges.push((start, start + width)),
            }
        }
        let field = match by {
            ShardBy::Object => "object.metadata.uid",
            ShardBy::Namespace => "object.metadata.namespace",
        };
        let range = |(start, end)| format!("shardRange({field}, '0x{start:016x}', '0x{end:016x}')");
        ranges.into_iter().map(range).collect::<Vec<_>>().join(" || ")
    }
}

impl FromStr for SlotCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(count @ 2..=256_u16) if count.is_power_of_two() => Ok(Self(count)),
            _ => Err("the number of slots must be a power of two from 2 to 256, such as 64".to_owned()),
        }
    }
}

impl ShardBy {
    /// The slot of an object, `None` for one without the field.
    pub(crate) fn slot(self, count: SlotCount, object: &ObjectMeta) -> Option<Slot> {
        let field = match self {
            Self::Object => &object.uid,
            Self::Namespace => &object.namespace,
        };
        field.as_deref().map(|text| count.of_text(text))
    }

    /// The slot of the controller that owns an object, `None` for an object without one.
    pub(crate) fn slot_of_owner(self, count: SlotCount, object: &ObjectMeta) -> Option<Slot> {
        let owner = object.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))?;
        match self {
            Self::Object => Some(count.of_text(&owner.uid)),
            Self::Namespace => self.slot(count, object),
        }
    }
}

/// FNV-1a with 64 bits, the hash of the API server's parameter `shardSelector`.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> SlotCount {
        text.parse().unwrap()
    }

    #[test]
    fn hashes_like_the_api_server() {
        // From the tables of the algorithm's authors.
        for (text, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(fnv1a(text), hash, "{text}");
        }
    }

    #[test]
    fn slots_are_ranges_of_the_hash() {
        assert_eq!((count("2").of(0), count("2").of(u64::MAX >> 1), count("2").of(u64::MAX)), (0, 0, 1));
        assert_eq!((count("256").of(1 << 56), count("256").of(u64::MAX)), (1, 255));
        let selector = |slots: &[Slot]| count("4").selector(ShardBy::Object, slots.iter().copied());
        assert_eq!(
            selector(&[0, 1, 3]),
            "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || \
             shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')"
        );
        assert_eq!(
            count("2").selector(ShardBy::Namespace, 0..2),
            "shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000')"
        );
    }

    #[test]
    fn refuses_numbers_that_are_no_power_of_two() {
        for text in ["", "0", "1", "3", "63", "512", "-2", "many"] {
            assert!(text.parse::<SlotCount>().is_err(), "{text}");
        }
    }
}
