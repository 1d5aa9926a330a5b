//! Which renderings have a part of an object, and the condition of a template that says so.

/// A set of renderings. Bit `n` is the rendering in which switch `i` is on if bit `i` of `n` is set.
pub type Set = u128;

/// More would not fit into a `Set`.
pub const MOST_SWITCHES: usize = 7;

/// All renderings with this number of switches.
pub fn all(switches: usize) -> Set {
    match 1u32 << switches {
        128 => Set::MAX,
        renderings => (1 << renderings) - 1,
    }
}

/// The renderings in which a switch is on.
fn on(switch: usize) -> Set {
    (0..128).filter(|rendering| rendering >> switch & 1 == 1).fold(0, |set, rendering| set | 1 << rendering)
}

/// An expression that is true in the renderings of `set`, and false in the others of `within`; `None` if it would always be true.
/// `switches` are the expressions of the single switches.
pub fn condition(set: Set, within: Set, switches: &[String]) -> Option<String> {
    if set == within {
        return None;
    }
    let (terms, rest) = terms(set, within, switches);
    if set == rest {
        return Some(join("and", terms));
    }
    let (others, all_others) = self::terms(rest & !set, rest, switches);
    if rest & !set == all_others {
        let negated = join("or", others.iter().map(|other| negated(other)).collect());
        let not = not(&join("and", others));
        let shorter = if negated.len() < not.len() { negated } else { not };
        return Some(join("and", terms.into_iter().chain([shorter]).collect()));
    }
    // One of the switches decides between two conditions.
    let is_both = |switch: &usize| rest & on(*switch) != 0 && rest & !on(*switch) != 0;
    let matters = |switch: &usize| (set & on(*switch)) >> (1 << switch) != set & !on(*switch);
    let split = (0..switches.len()).filter(is_both);
    let split = split.clone().find(matters).or_else(|| split.clone().next())?;
    let sides = [(on(split), switches[split].clone()), (!on(split), not(&switches[split]))];
    let sides = sides.into_iter().filter(|(side, _)| set & side != 0).map(|(side, expression)| {
        match condition(set & side, rest & side, switches) {
            Some(inner) => join("and", vec![expression, inner]),
            None => expression,
        }
    });
    Some(join("and", terms.into_iter().chain([join("or", sides.collect())]).collect()))
}

/// The switches that are equally set in all renderings of `set`, and the renderings of `within` in which they are set so.
fn terms(set: Set, within: Set, switches: &[String]) -> (Vec<String>, Set) {
    let (mut terms, mut rest) = (Vec::new(), within);
    for (switch, expression) in switches.iter().enumerate() {
        let on = on(switch);
        if set & !on == 0 && rest & !on != 0 {
            terms.push(expression.clone());
            rest &= on;
        } else if set & on == 0 && rest & on != 0 {
            terms.push(not(expression));
            rest &= !on;
        }
    }
    (terms, rest)
}

fn not(expression: &str) -> String {
    format!("not {}", operand(expression))
}

/// The opposite of a switch, or of its negation.
fn negated(expression: &str) -> String {
    match expression.strip_prefix("not ") {
        Some(inner) => inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(inner).into(),
        None => not(expression),
    }
}

/// One expression of several.
pub fn join(operator: &str, mut terms: Vec<String>) -> String {
    match terms.len() {
        1 => terms.remove(0),
        _ => format!("{operator} {}", terms.iter().map(|term| operand(term)).collect::<Vec<_>>().join(" ")),
    }
}

fn operand(expression: &str) -> String {
    if expression.contains(' ') { format!("({expression})") } else { expression.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The renderings with two or three switches in which `holds`.
    fn set(switches: usize, holds: impl Fn(&[bool]) -> bool) -> Set {
        let renderings = (0..1 << switches)
            .filter(|rendering| holds(&(0..switches).map(|switch| rendering >> switch & 1 == 1).collect::<Vec<_>>()));
        renderings.fold(0, |set, rendering: u32| set | 1 << rendering)
    }

    #[test]
    fn conditions_are_as_short_as_people_write_them() {
        let switches = [".a", ".b", "gt .c 1"].map(str::to_owned);
        let of = |holds: fn(&[bool]) -> bool| condition(set(3, holds), all(3), &switches);
        assert_eq!(of(|_| true), None);
        assert_eq!(of(|on| on[0]).unwrap(), ".a");
        assert_eq!(of(|on| !on[2]).unwrap(), "not (gt .c 1)");
        assert_eq!(of(|on| on[0] && !on[1]).unwrap(), "and .a (not .b)");
        assert_eq!(of(|on| !(on[0] && on[1])).unwrap(), "not (and .a .b)");
        assert_eq!(of(|on| on[0] || on[1]).unwrap(), "or .a .b");
        assert_eq!(of(|on| on[2] && (on[0] || !on[1])).unwrap(), "and (gt .c 1) (or .a (not .b))");
        assert_eq!(of(|on| on[0] && (on[1] || on[2])).unwrap(), "and .a (or .b (gt .c 1))");
        assert_eq!(
            of(|on| on[2] && (on[0] == on[1])).unwrap(),
            "and (gt .c 1) (or (and .a .b) (and (not .a) (not .b)))"
        );
        // What holds around it need not be repeated.
        assert_eq!(condition(set(2, |on| on[0] && on[1]), set(2, |on| on[0]), &switches[..2]).unwrap(), ".b");
    }
}
