//! Types of fields: scalars, collections, pointers, those of Kubernetes, and declared ones.

use super::world::{Shape, Ty, World};

const INTEGERS: [&str; 10] = ["i32", "i32", "i64", "u8", "u16", "u32", "u64", "i8", "i16", "usize"];
const KUBERNETES: [&str; 14] = [
    "k8s_openapi::apimachinery::pkg::api::resource::Quantity",
    "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString",
    "k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector",
    "k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition",
    "k8s_openapi::apimachinery::pkg::apis::meta::v1::Time",
    "k8s_openapi::api::core::v1::EnvVar",
    "k8s_openapi::api::core::v1::ResourceRequirements",
    "k8s_openapi::api::core::v1::Toleration",
    "k8s_openapi::api::core::v1::LocalObjectReference",
    "k8s_openapi::api::core::v1::SecretKeySelector",
    "k8s_openapi::api::core::v1::ObjectReference",
    "k8s_openapi::api::core::v1::SecurityContext",
    "k8s_openapi::api::core::v1::ContainerPort",
    "k8s_openapi::api::core::v1::TopologySpreadConstraint",
];

impl World {
    pub fn ty(&mut self, depth: usize) -> Ty {
        if self.dice.percent(40) && !self.types.is_empty() {
            return self.declared_type(depth);
        }
        self.plain_type(depth)
    }

    pub fn declared_type(&mut self, depth: usize) -> Ty {
        let unused: Vec<usize> = (0..self.types.len()).filter(|index| !self.types[*index].used).collect();
        let index = match unused.as_slice() {
            [] => self.dice.below(self.types.len()),
            _ if self.dice.percent(30) => self.dice.below(self.types.len()),
            unused => unused[self.dice.below(unused.len())],
        };
        self.types[index].used = true;
        self.of(index, depth)
    }

    pub fn of(&mut self, index: usize, depth: usize) -> Ty {
        let takes_one = matches!(self.types[index].shape, Shape::Generic | Shape::GenericAlias);
        Ty::Declared(index, if takes_one { vec![self.argument(depth)] } else { Vec::new() })
    }

    /// An argument of a generic type: not recursive, and not an option, which flattens differently.
    pub fn argument(&mut self, depth: usize) -> Ty {
        if depth > 0 && self.dice.percent(30) { self.plain_type(depth - 1) } else { self.scalar() }
    }

    pub fn scalar(&mut self) -> Ty {
        Ty::Scalar(match self.dice.below(10) {
            0..4 => "String",
            4 => "bool",
            5 => self.dice.pick(&["f32", "f64", "char", "i128", "u128", "isize"]),
            _ => self.dice.pick(&INTEGERS),
        })
    }

    pub fn plain_type(&mut self, depth: usize) -> Ty {
        let inner = |world: &mut Self| world.ty(depth - 1);
        match self.dice.below(if depth == 0 { 8 } else { 20 }) {
            0..5 => self.scalar(),
            5 => Ty::Foreign(self.dice.pick(&KUBERNETES), Vec::new()),
            6 => Ty::Foreign(
                self.dice.pick(&[
                    "std::path::PathBuf",
                    "std::net::IpAddr",
                    "std::net::Ipv4Addr",
                    "std::num::NonZeroU16",
                    "std::num::NonZeroI32",
                    "std::time::Duration",
                    "kube::core::Duration",
                ]),
                Vec::new(),
            ),
            7 => self.scalar(),
            8..12 => Ty::Foreign("std::option::Option", vec![inner(self)]),
            12..15 => Ty::Foreign("std::vec::Vec", vec![inner(self)]),
            15 | 16 => {
                let map = self.dice.pick(&["std::collections::BTreeMap", "std::collections::HashMap"]);
                Ty::Foreign(map, vec![self.key(), inner(self)])
            }
            17 => {
                let set = self.dice.pick(&["std::collections::BTreeSet", "std::collections::HashSet"]);
                let element = self.key();
                Ty::Foreign(set, vec![element])
            }
            18 => {
                let pointer = self.dice.pick(&["std::boxed::Box", "std::boxed::Box", "std::sync::Arc", "std::rc::Rc"]);
                Ty::Foreign(pointer, vec![inner(self)])
            }
            _ => match self.dice.below(12) {
                0 => Ty::Foreign("std::borrow::Cow", vec![Ty::Scalar("str")]),
                1 => Ty::Foreign("std::collections::VecDeque", vec![inner(self)]),
                2 => Ty::Array(Box::new(self.scalar()), self.dice.between(1, 4)),
                3 => Ty::Foreign("serde_json::Value", Vec::new()),
                4 => Ty::Tuple(vec![self.scalar(), self.scalar()]),
                5 => Ty::Foreign("std::num::Wrapping", vec![Ty::Scalar("u32")]),
                6 => Ty::Foreign("std::time::SystemTime", Vec::new()),
                7 => Ty::Foreign("k8s_openapi::api::core::v1::Affinity", Vec::new()),
                _ => self.scalar(),
            },
        }
    }

    /// A type that can be a map key and a set element.
    pub fn key(&mut self) -> Ty {
        let keys: Vec<usize> =
            (0..self.types.len()).filter(|index| matches!(self.types[*index].shape, Shape::Units(_))).collect();
        if !keys.is_empty() && self.dice.percent(25) {
            let key = keys[self.dice.below(keys.len())];
            self.types[key].used = true;
            return Ty::Declared(key, Vec::new());
        }
        Ty::Scalar(if self.dice.percent(85) { "String" } else { self.dice.pick(&["u16", "i32", "u64"]) })
    }
}
