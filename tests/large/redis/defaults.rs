//! Defaults of a specification.

pub(super) mod image {
    pub const REPOSITORY: &str = "docker.io/library/redis";
    pub const TAG: &str = "8.2-alpine";

    pub fn repository() -> String {
        REPOSITORY.to_owned()
    }

    pub fn tag() -> String {
        TAG.into()
    }
}

pub(super) mod port {
    pub const REDIS: u16 = 6_379;
    pub const SENTINEL: u16 = REDIS + 20_000;

    pub const fn redis() -> u16 {
        REDIS
    }

    pub const fn sentinel() -> u16 {
        SENTINEL
    }
}

pub const REPLICAS: u8 = 0b11;
pub const QUORUM: u8 = REPLICAS / 2 + 1;
pub const MAX_MEMORY_PERCENT: f32 = 75.0;
pub static UNUSED: &str = "not a constant";

pub fn replicas() -> u8 {
    REPLICAS
}

pub fn quorum() -> u8 {
    QUORUM
}

pub fn max_memory_percent() -> f32 {
    MAX_MEMORY_PERCENT
}

pub fn yes() -> bool {
    true
}

pub fn save() -> Vec<super::spec::Save> {
    vec![]
}

pub fn commands() -> Vec<String> {
    vec!["+@all".to_string(), String::from("-@dangerous"), "-flushall".into()]
}
