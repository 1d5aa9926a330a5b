//! Names as rustc resolves them.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[allow(unused_imports)]
use widget::paint::Color::*;

use self::globs::*;
use crate::names::explicit::Both;

#[allow(unused_imports)]
use std::f64;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Names")]
pub struct NamesSpec {
    explicit_wins: Both,
    from_glob: One,
    own_wins: Own,
    up: explicit::inner::Up,
    raw: r#struct::r#Raw,
    shadowed: shadow::Shadowed,
    path: inline::named::Placed,
    same_name: same::same,
    number: f64,
    by_value: explicit::Chosen,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Own {
    here: bool,
}

mod globs {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct One {
        one: u8,
    }

    #[allow(dead_code)]
    pub struct Both;
    #[allow(dead_code)]
    pub struct Own;
}

mod explicit {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Both {
        explicit: u8,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[serde(default)]
    pub struct Chosen {
        letter: Letter,
        other: Letter,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub enum Letter {
        Alpha,
        Beta,
    }

    use Letter::*;

    impl Default for Chosen {
        fn default() -> Self {
            Self { letter: Beta, other: self::Letter::Alpha }
        }
    }

    pub mod inner {
        pub(in crate::names) use super::super::super::names::Own as Top;

        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        pub struct Up {
            top: self::super::super::Own,
            renamed: Top,
        }
    }
}

mod r#struct {
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct Raw {
        r#fn: u8,
    }
}

mod shadow {
    /// Not std's.
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct String {
        text: std::string::String,
    }

    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct Shadowed {
        own: String,
        global: ::std::string::String,
        foreign: self::foreign::Inner,
    }

    mod foreign {
        // Brings a type named `Option`.
        use shared::*;

        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        pub struct Inner {
            option: Option,
        }
    }
}

mod inline {
    #[path = "other.rs"]
    pub mod named;
}

mod same {
    #[allow(non_camel_case_types)]
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct same {
        same: u8,
    }
}
