//! An object of a manifest: its value, and the positions of its fields.

use serde_json::Value;

use opctl_kustomize::yaml::Node;
use opctl_model::diagnostic::Span;

#[derive(Clone, Debug)]
pub struct Object {
    node: Node,
    pub value: Value,
}

impl Object {
    pub fn new(node: Node) -> Self {
        Self { value: node.json(), node }
    }

    pub fn text(&self, pointer: &str) -> &str {
        text(&self.value, pointer)
    }

    pub fn list(&self, pointer: &str) -> &[Value] {
        list(&self.value, pointer)
    }

    pub fn kind(&self) -> &str {
        self.text("/kind")
    }

    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// Empty if it is not set.
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// Empty for the core group.
    pub fn group(&self) -> &str {
        self.text("/apiVersion").split_once('/').map_or("", |(group, _)| group)
    }

    pub fn version(&self) -> &str {
        let version = self.text("/apiVersion");
        version.split_once('/').map_or(version, |(_, version)| version)
    }

    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    /// The identity of the object.
    pub fn key(&self) -> [&str; 4] {
        [self.kind(), self.group(), self.namespace(), self.name()]
    }

    /// The position of the value at a JSON pointer, or of its nearest parent.
    pub fn span(&self, pointer: &str) -> Span {
        let mut node = &self.node;
        for step in pointer.split('/').skip(1) {
            let inside = match step.parse::<usize>() {
                Ok(index) => node.items().get(index),
                Err(_) => node.get(&step.replace("~1", "/").replace("~0", "~")),
            };
            let Some(inside) = inside else { break };
            node = inside;
        }
        node.span.clone()
    }

    pub fn name_span(&self) -> Span {
        self.span("/metadata/name")
    }

    /// ``Role `a` in `b` ``
    pub fn title(&self) -> String {
        match self.namespace() {
            "" => format!("{} `{}`", self.kind(), self.name()),
            namespace => format!("{} `{}` in `{namespace}`", self.kind(), self.name()),
        }
    }
}

/// The string at a JSON pointer; empty if it is missing.
pub fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a JSON pointer; empty if it is missing.
pub fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Escapes a key for a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
