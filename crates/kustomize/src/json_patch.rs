//! JSON patches (RFC 6902), as kustomize applies them.

use super::yaml::{Node, Value};
use opctl_model::diagnostic::Span;

/// The position in a patch, and the reason why the patch does not apply.
pub type PatchError = (Span, String);

/// Applies the operations in order, up to the first error. `doubts` receives operations that kustomize applies
/// differently than they are written.
pub fn apply(object: &mut Node, operations: &[Node], doubts: &mut Vec<PatchError>) -> Result<(), PatchError> {
    operations.iter().try_for_each(|operation| apply_one(object, operation, doubts))
}

fn apply_one(object: &mut Node, operation: &Node, doubts: &mut Vec<PatchError>) -> Result<(), PatchError> {
    let text = |key: &str| -> Result<(&str, &Span), PatchError> {
        let node = operation.get(key).ok_or_else(|| (operation.span.clone(), format!("a JSON patch needs `{key}`")))?;
        let text = node.as_text().ok_or_else(|| (node.span.clone(), format!("`{key}` must be a string")))?;
        Ok((text, &node.span))
    };
    let value = || {
        let missing = || (operation.span.clone(), "this operation needs a `value`".to_owned());
        operation.get("value").cloned().ok_or_else(missing)
    };
    let (op, op_span) = text("op")?;
    let (path, span) = text("path")?;
    match op {
        "add" => add(object, path, value()?, span),
        "remove" => take(object, path, span).map(drop),
        "replace" => {
            let value = value()?;
            if let Some(old) = find(object, path) {
                *old = value;
                return Ok(());
            }
            let (holder, last) = holder(object, path, span)?;
            if matches!(holder.value, Value::List(_)) {
                return Err(missing(path, span));
            }
            holder.set(&last, value);
            doubts.push((span.clone(), format!("`replace` adds `{path}`, which does not exist")));
            Ok(())
        }
        "move" => {
            let (from, from_span) = text("from")?;
            let value = take(object, from, from_span)?;
            add(object, path, value, span)
        }
        "copy" => {
            let (from, from_span) = text("from")?;
            let value = find(object, from).ok_or_else(|| missing(from, from_span))?.clone();
            add(object, path, value, span)
        }
        "test" => match find(object, path) {
            Some(found) if found.json() == value()?.json() => Ok(()),
            Some(_) => Err((span.clone(), format!("`{path}` does not have the value that is tested for"))),
            None => Err(missing(path, span)),
        },
        _ => {
            let known = "`add`, `remove`, `replace`, `move`, `copy` or `test`";
            Err((op_span.clone(), format!("`{op}` is not a JSON patch operation; these are {known}")))
        }
    }
}

fn missing(path: &str, span: &Span) -> PatchError {
    (span.clone(), format!("there is no `{path}` in what is patched"))
}

fn keys(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
}

fn find<'a>(object: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    keys(path).iter().try_fold(object, |node, key| match &mut node.value {
        Value::List(items) => items.get_mut(key.parse::<usize>().ok()?),
        Value::Map(entries) => entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.value),
        _ => None,
    })
}

/// The container of the last key of a path, and that key.
fn holder<'a>(object: &'a mut Node, path: &str, span: &Span) -> Result<(&'a mut Node, String), PatchError> {
    let (above, last) = path.rsplit_once('/').ok_or_else(|| missing(path, span))?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let holder = find(object, above).filter(|node| matches!(node.value, Value::List(_) | Value::Map(_)));
    Ok((holder.ok_or_else(|| missing(above, span))?, last))
}

fn add(object: &mut Node, path: &str, value: Node, span: &Span) -> Result<(), PatchError> {
    let (holder, last) = holder(object, path, span)?;
    let Value::List(items) = &mut holder.value else {
        holder.set(&last, value);
        return Ok(());
    };
    let at = if last == "-" { Some(items.len()) } else { last.parse().ok() };
    let at = at.filter(|at| *at <= items.len()).ok_or_else(|| missing(path, span))?;
    items.insert(at, value);
    Ok(())
}

fn take(object: &mut Node, path: &str, span: &Span) -> Result<Node, PatchError> {
    let (holder, last) = holder(object, path, span)?;
    let taken = match &mut holder.value {
        Value::List(items) => last.parse().ok().filter(|at| *at < items.len()).map(|at: usize| items.remove(at)),
        _ => holder.remove(&last),
    };
    taken.ok_or_else(|| missing(path, span))
}
