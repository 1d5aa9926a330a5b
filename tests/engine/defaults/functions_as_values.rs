use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsFunctionsAsValues")]
pub struct Spec {
    #[serde(default = "composed::d")]
    pub composed: u32,
    #[serde(default = "by_name::d")]
    pub by_name: u32,
    #[serde(default = "generic::d")]
    pub generic: u32,
    #[serde(default = "made::d")]
    pub made: u32,
    #[serde(default = "boxed::d")]
    pub boxed: u32,
    #[serde(default = "shadowed::d")]
    pub shadowed: i32,
}

mod composed {
    fn compose(f: impl Fn(u32) -> u32, g: impl Fn(u32) -> u32) -> impl Fn(u32) -> u32 {
        move |x| g(f(x))
    }
    pub fn d() -> u32 {
        compose(|x| x + 1, |x| x * 10)(4)
    }
}

mod by_name {
    fn twice(f: fn(u32) -> u32, n: u32) -> u32 {
        f(f(n))
    }
    fn inc(n: u32) -> u32 {
        n + 1
    }
    pub fn d() -> u32 {
        twice(inc, 5)
    }
}

mod generic {
    fn apply<F: Fn(u32) -> u32>(f: F, n: u32) -> u32 {
        f(f(n))
    }
    pub fn d() -> u32 {
        let k = 3;
        apply(|x| x * k, 2)
    }
}

mod made {
    fn make(n: u32) -> impl Fn(u32) -> u32 {
        move |x| x + n
    }
    pub fn d() -> u32 {
        make(3)(4)
    }
}

mod boxed {
    pub fn d() -> u32 {
        let fs: [Box<dyn Fn(u32) -> u32>; 2] = [Box::new(|x| x + 1), Box::new(|x| x * 2)];
        fs.iter().fold(5, |a, f| f(a))
    }
}

mod shadowed {
    pub fn d() -> i32 {
        let x = 5;
        let f = |y: i32| {
            let x = 10;
            x + y
        };
        f(1) + x
    }
}
