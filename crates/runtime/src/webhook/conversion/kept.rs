//! Fields that another version lacks. They are preserved in the annotation `conversion.<group>/<version>` of the other
//! version, which names the version that has them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Version, carry};

/// The differences between two values.
#[derive(Deserialize, Serialize)]
pub(super) struct Kept {
    /// The fields of the object.
    pub lost: Value,
    /// The same fields after the object was converted and back. A field that has another value now was changed in the
    /// other version, and is not restored.
    pub left: Value,
}

impl Kept {
    pub fn between<A: Version>(before: &A, after: &A) -> Option<Self> {
        let (lost, left) = differences(&content(before), &content(after))?;
        Some(Self { lost, left })
    }

    /// Stores the lost fields of `A` in an annotation of `B`. The API server rejects annotations of more than 256 KiB.
    pub fn put<A: Version, B: Version>(&self, object: &mut B) {
        if let Ok(text) = serde_json::to_string(self) {
            let annotations = &mut object.meta_mut().annotations;
            annotations.get_or_insert_default().insert(key::<A>(), text);
        }
    }

    /// Removes the annotation with the lost fields of `B` from `A`, and decodes it if possible.
    pub fn take<A: Version, B: Version>(object: &mut A) -> Option<Self> {
        let annotations = &mut object.meta_mut().annotations;
        let text = annotations.as_mut()?.remove(&key::<B>())?;
        annotations.take_if(|it| it.is_empty());
        serde_json::from_str(&text).ok()
    }

    /// Restores the lost fields, except those that were changed since.
    pub fn restore<B: Version>(&self, object: &B) -> Option<B> {
        let now = carry::write(object).ok();
        let restored = restored(now, Some(&self.lost), Some(&self.left))?;
        serde_json::from_value(restored).ok()
    }
}

pub(super) fn same<A: Version>(one: &A, other: &A) -> bool {
    content(one) == content(other)
}

fn key<A: Version>() -> String {
    format!("conversion.{}/{}", A::group(&()), A::version(&()))
}

/// The object without `metadata`, which the API server handles.
fn content<A: Version>(object: &A) -> Value {
    let mut content = carry::write(object).unwrap_or_default();
    if let Value::Object(map) = &mut content {
        map.remove("metadata");
    }
    content
}

/// The differences between two values; lists are compared as a whole.
fn differences(one: &Value, other: &Value) -> Option<(Value, Value)> {
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return (one != other).then(|| (one.clone(), other.clone()));
    };
    let (mut one, mut other) = (Map::new(), Map::new());
    for key in a.keys().chain(b.keys()) {
        let (mut x, mut y) = (a.get(key).cloned(), b.get(key).cloned());
        if let (Some(a), Some(b)) = (&x, &y) {
            (x, y) = differences(a, b).unzip();
        }
        one.extend(x.map(|value| (key.clone(), value)));
        other.extend(y.map(|value| (key.clone(), value)));
    }
    (!one.is_empty() || !other.is_empty()).then(|| (one.into(), other.into()))
}

/// Takes `lost` where `now` equals `left`, and `now` elsewhere.
fn restored(now: Option<Value>, lost: Option<&Value>, left: Option<&Value>) -> Option<Value> {
    match (now, lost, left) {
        (Some(Value::Object(mut now)), Some(Value::Object(lost)), Some(Value::Object(left))) => {
            let keys: BTreeSet<_> = lost.keys().chain(left.keys()).collect();
            for key in keys {
                let value = restored(now.remove(key), lost.get(key), left.get(key));
                now.extend(value.map(|value| (key.clone(), value)));
            }
            Some(now.into())
        }
        (now, lost, left) if now.as_ref() == left => lost.cloned(),
        (Some(Value::Array(now)), Some(Value::Array(lost)), Some(Value::Array(left))) => {
            Some(elements(&now, lost, left))
        }
        (now, ..) => now,
    }
}

/// Restores the elements of a list. An element is matched by its value in `left`, at any index. A changed element is
/// matched by its index, unless elements were added, removed or moved there.
fn elements(now: &[Value], lost: &[Value], left: &[Value]) -> Value {
    let element = |(place, value): (usize, &Value)| {
        let there = left.get(place);
        let found = match there == Some(value) {
            true => Some(place),
            false => left.iter().position(|it| it == value),
        };
        let stays = now.len() == left.len() && there.is_some_and(|it| !now.contains(it));
        match found {
            Some(place) => lost.get(place).cloned(),
            None if stays => restored(Some(value.clone()), lost.get(place), there),
            None => None,
        }
        .unwrap_or_else(|| value.clone())
    };
    now.iter().enumerate().map(element).collect()
}
