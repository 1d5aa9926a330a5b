use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsShown")]
pub struct Spec {
    #[serde(default = "display::d")]
    pub display: String,
    #[serde(default = "choice::d")]
    pub choice: String,
    #[serde(default = "of_text::d")]
    pub of_text: String,
    #[serde(default = "debug::d")]
    pub debug: String,
    #[serde(default = "of_unit::d")]
    pub of_unit: String,
    #[serde(default = "widths::d")]
    pub widths: String,
    #[serde(default = "maps::d")]
    pub maps: String,
}

mod display {
    struct P {
        x: i32,
        y: i32,
    }
    impl std::fmt::Display for P {
        fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            if self.y == 0 {
                return write!(f, "{}", self.x);
            }
            write!(f, "({}, ", self.x)?;
            write!(f, "{})", self.y)
        }
    }
    pub fn d() -> String {
        format!("{}{}", P { x: 1, y: 2 }, P { x: 3, y: 0 })
    }
}

mod choice {
    enum L {
        A,
        B(u8),
    }
    impl std::fmt::Display for L {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            match self {
                L::A => f.write_str("a"),
                L::B(n) => write!(f, "b{n}"),
            }
        }
    }
    pub fn d() -> String {
        [L::A, L::B(3)].iter().map(|l| l.to_string()).collect::<Vec<_>>().join("/")
    }
}

mod of_text {
    enum L {
        A,
        B,
    }
    impl L {
        fn as_str(&self) -> &'static str {
            match self {
                Self::A => "a",
                Self::B => "b",
            }
        }
    }
    impl std::fmt::Display for L {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.as_str())
        }
    }
    pub fn d() -> String {
        format!("{}-{}", L::A, L::B.to_string())
    }
}

mod debug {
    #[derive(Debug)]
    struct P {
        a: Option<u8>,
        b: (u8, char),
        c: Vec<String>,
        r#type: U,
    }
    #[derive(Debug)]
    struct U;
    pub fn d() -> String {
        format!("{:?}", P { a: Some(1), b: (2, 'x'), c: vec!["q\"".into()], r#type: U })
    }
}

mod of_unit {
    #[derive(Debug)]
    enum C {
        DarkBlue,
    }
    pub fn d() -> String {
        format!("{:?}", C::DarkBlue).to_lowercase()
    }
}

mod widths {
    pub fn d() -> String {
        let (w, p) = (8, 2);
        format!("{:0w$.p$}|{:>1$}|{:*^2$}|{x:?}", 3.14159, 5, 7, x = 'c')
    }
}

mod maps {
    use std::collections::BTreeMap;
    pub fn d() -> String {
        format!("{:?}", BTreeMap::from([(1, "x")]))
    }
}
