use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsNumbersOfStd")]
pub struct Spec {
    #[serde(default = "bits::d")]
    pub bits: u32,
    #[serde(default = "steps::d")]
    pub steps: u32,
    #[serde(default = "overflow::d")]
    pub overflow: i32,
    #[serde(default = "durations::d")]
    pub durations: u64,
    #[serde(default = "times::d")]
    pub times: std::time::Duration,
    #[serde(default = "floats::d")]
    pub floats: f64,
    #[serde(default = "sums::d")]
    pub sums: f64,
    #[serde(default = "ordered::d")]
    pub ordered: u32,
    #[serde(default = "fields_ordered::d")]
    pub fields_ordered: u32,
    #[serde(default = "flags::d")]
    pub flags: bool,
    #[serde(default = "platform::d")]
    pub platform: u32,
    #[serde(default = "clamped::d")]
    pub clamped: f32,
}

mod bits {
    pub fn d() -> u32 {
        (-1i8).count_ones()
            + (-1i8).leading_zeros()
            + 1i16.leading_zeros()
            + 0u8.trailing_zeros()
            + 8u64.trailing_zeros()
            + 100u32.ilog2()
            + 1000u32.ilog10()
    }
}

mod steps {
    pub fn d() -> u32 {
        10u32.next_multiple_of(4)
            + 17u32.next_power_of_two()
            + 17u32.isqrt()
            + 7u32.abs_diff(9)
            + u32::BITS
            + (-5i32).unsigned_abs()
            + (-5i32).abs_diff(3)
    }
}

mod overflow {
    pub fn d() -> i32 {
        let (a, o) = i32::MAX.overflowing_add(1);
        if o { a } else { 0 }
    }
}

mod durations {
    use std::time::Duration;
    pub fn d() -> u64 {
        let t = Duration::from_secs(3) * 2 + Duration::from_millis(500);
        t.as_secs() + u64::from(t.subsec_millis()) + (t > Duration::from_secs(6)) as u64
    }
}

mod times {
    use std::time::Duration;
    const BASE: Duration = Duration::from_millis(250);
    pub fn d() -> Duration {
        (BASE * 6).max(Duration::from_secs(1)).saturating_sub(Duration::new(1, 5))
    }
}

mod floats {
    pub fn d() -> f64 {
        std::f64::consts::PI.floor()
            + f64::MAX.min(2.0)
            + (-1.5f64).abs()
            + 2.5f64.round()
            + (-2.5f64).round()
            + 1.9f64.trunc()
    }
}

mod sums {
    pub fn d() -> f64 {
        [0.1, 0.2, 0.3].iter().sum()
    }
}

mod ordered {
    #[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
    enum P {
        Low,
        Mid,
        High,
    }
    pub fn d() -> u32 {
        let m = [P::Mid, P::High, P::Low].into_iter().max().unwrap();
        if m > P::Mid && P::Low < P::Mid { 1 } else { 2 }
    }
}

mod fields_ordered {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct S2 {
        z: u32,
        a: u32,
    }
    pub fn d() -> u32 {
        if (S2 { z: 1, a: 9 }) < (S2 { z: 2, a: 0 }) { 1 } else { 2 }
    }
}

mod flags {
    pub fn d() -> bool {
        matches!((1, "a"), (1 | 2, s) if s.len() == 1)
            && !matches!(Some(5), Some(6..=9))
            && cfg!(feature = "on")
            && cfg!(not(feature = "off"))
            && cfg!(debug_assertions)
    }
}

mod platform {
    pub fn d() -> u32 {
        if cfg!(all(target_os = "windows", not(unix))) {
            1
        } else if cfg!(any(feature = "on", test)) {
            2
        } else {
            3
        }
    }
}

mod clamped {
    pub fn d() -> f32 {
        (1.1f32 * 1.1).clamp(0.0, 1.2)
    }
}
