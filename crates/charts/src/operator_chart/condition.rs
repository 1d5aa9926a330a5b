//! Derives the condition of a part of the chart, an expression of the switches, from the renderings that contain the
//! part.
//!
//! A part depends on few switches: those that alone add or remove it between two renderings. Its condition is computed
//! from a table with a row for each setting of these switches.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{BitAnd, BitOr, Not};

use super::Switch;

/// The enabled switches of a rendering.
pub type Combination = BTreeSet<Switch>;

/// A set of renderings, by their index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Set {
    In(BTreeSet<usize>),
    NotIn(BTreeSet<usize>),
}

impl Set {
    pub(super) const NONE: Self = Self::In(BTreeSet::new());
    pub(super) const ALL: Self = Self::NotIn(BTreeSet::new());

    pub(super) fn insert(&mut self, rendering: usize) {
        match self {
            Self::In(renderings) => renderings.insert(rendering),
            Self::NotIn(renderings) => renderings.remove(&rendering),
        };
    }

    pub(super) fn contains(&self, rendering: usize) -> bool {
        match self {
            Self::In(renderings) => renderings.contains(&rendering),
            Self::NotIn(renderings) => !renderings.contains(&rendering),
        }
    }
}

impl From<usize> for Set {
    fn from(rendering: usize) -> Self {
        Self::In([rendering].into())
    }
}

impl BitAnd for &Set {
    type Output = Set;

    fn bitand(self, other: &Set) -> Set {
        match (self, other) {
            (Set::In(one), Set::In(other)) => Set::In(one & other),
            (Set::In(one), Set::NotIn(other)) | (Set::NotIn(other), Set::In(one)) => Set::In(one - other),
            (Set::NotIn(one), Set::NotIn(other)) => Set::NotIn(one | other),
        }
    }
}

impl BitOr for &Set {
    type Output = Set;

    fn bitor(self, other: &Set) -> Set {
        !&(&!self & &!other)
    }
}

impl Not for &Set {
    type Output = Set;

    fn not(self) -> Set {
        match self.clone() {
            Set::In(renderings) => Set::NotIn(renderings),
            Set::NotIn(renderings) => Set::In(renderings),
        }
    }
}

/// The existence of a part for each setting of the relevant switches. Settings without the enclosing part have no row.
type Table = BTreeMap<Combination, bool>;

/// The rendered combinations.
pub(super) struct Renderings<'a> {
    /// By their indices in a [`Set`].
    combinations: Vec<&'a Combination>,
    /// Of these arguments of [`condition`](Self::condition): most parts are in the same renderings as others.
    known: RefCell<HashMap<(Set, Set), Option<String>>>,
}

impl<'a> Renderings<'a> {
    pub(super) fn of(combinations: impl Iterator<Item = &'a Combination>) -> Self {
        Self { combinations: combinations.collect(), known: RefCell::default() }
    }

    /// An expression that is true in the renderings of `set` and false in the others of `within`; `None` if it is
    /// always true.
    pub(super) fn condition(&self, set: &Set, within: &Set) -> Option<String> {
        let mut known = self.known.borrow_mut();
        let condition = known.entry((set.clone(), within.clone()));
        condition.or_insert_with(|| expression(self.table(set, within))).clone()
    }

    /// The table of a part. `within` is the set of the enclosing part.
    pub(super) fn table(&self, set: &Set, within: &Set) -> Table {
        let inside = self.combinations.iter().enumerate().filter(|(at, _)| within.contains(*at));
        let (with, without): (Vec<_>, Vec<_>) = inside.partition(|(at, _)| set.contains(*at));
        // Most objects are in all renderings.
        if without.is_empty() {
            return [(Combination::new(), true)].into();
        }
        let [with, without] = [with, without].map(|side| side.into_iter().map(|(_, it)| *it).collect::<BTreeSet<_>>());
        let mut relevant: Combination = Switch::ALL
            .into_iter()
            .filter(|switch| with.iter().any(|combination| without.contains(&toggled(combination, *switch))))
            .collect();
        loop {
            let [rows, others] =
                [&with, &without].map(|side| side.iter().map(|it| *it & &relevant).collect::<BTreeSet<_>>());
            if rows.is_disjoint(&others) {
                let rows = rows.into_iter().map(|row| (row, true));
                return rows.chain(others.into_iter().map(|row| (row, false))).collect();
            }
            // The two renderings differ in several switches, and those between them lack the enclosing part: any of the
            // switches distinguishes them.
            let pairs = with.iter().flat_map(|one| without.iter().map(move |other| (*one, *other)));
            let pairs = pairs.filter(|(one, other)| *one & &relevant == *other & &relevant);
            let closest = pairs.min_by_key(|(one, other)| (*one ^ *other).len());
            let (one, other) = closest.expect("two renderings share the setting that is on both sides");
            relevant.extend((one ^ other).first());
        }
    }
}

fn toggled(combination: &Combination, switch: Switch) -> Combination {
    combination ^ &Combination::from([switch])
}

/// All combinations of these switches.
pub(super) fn settings(switches: &Combination) -> Vec<Combination> {
    let with_and_without = |settings: Vec<Combination>, switch: &Switch| {
        let with: Vec<_> = settings.iter().map(|setting| toggled(setting, *switch)).collect();
        settings.into_iter().chain(with).collect()
    };
    switches.iter().fold(vec![Combination::new()], with_and_without)
}

/// An expression that is true in the rows that have the part; `None` if it is always true.
fn expression(mut table: Table) -> Option<String> {
    let is_decided = |table: &Table| table.values().all(|has| *has);
    if is_decided(&table) {
        return None;
    }
    let mut parts = terms(&mut table);
    if is_decided(&table) {
        return Some(join("and", parts));
    }
    let mut opposite: Table = table.iter().map(|(row, has)| (row.clone(), !has)).collect();
    let others = terms(&mut opposite);
    if is_decided(&opposite) {
        let negated = join("or", others.iter().map(|other| negated(other)).collect());
        let not = not(&join("and", others));
        parts.push(if negated.len() < not.len() { negated } else { not });
        return Some(join("and", parts));
    }
    // Split by one of the switches.
    let has = |row: &Combination| table.get(row).is_some_and(|has| *has);
    let matters = |switch: &Switch| table.keys().any(|row| has(row) != has(&toggled(row, *switch)));
    let is_both = |switch: &Switch| {
        let on = table.keys().filter(|row| row.contains(switch)).count();
        0 < on && on < table.len()
    };
    let split = Switch::ALL.into_iter().filter(is_both);
    let split = split.clone().find(matters).or_else(|| split.clone().next())?;
    let (on, off): (Table, Table) = table.into_iter().partition(|(row, _)| row.contains(&split));
    let sides = [(on, split.expression()), (off, not(&split.expression()))];
    let sides = sides.into_iter().filter(|(side, _)| side.values().any(|has| *has)).map(|(side, decides)| {
        match expression(side) {
            Some(inner) => join("and", vec![decides, inner]),
            None => decides,
        }
    });
    parts.push(join("or", sides.collect()));
    Some(join("and", parts))
}

/// The switches with the same setting in all rows that have the part. Rows with the other setting are removed.
fn terms(table: &mut Table) -> Vec<String> {
    let mut terms = Vec::new();
    for switch in Switch::ALL {
        let on = |(row, _): &(&Combination, &bool)| row.contains(&switch);
        let rows = || table.iter().filter(|(_, has)| **has);
        let (is_on, is_off) = (rows().all(|row| on(&row)), !rows().any(|row| on(&row)));
        if is_on && !table.iter().all(|row| on(&row)) {
            terms.push(switch.expression());
            table.retain(|row, _| row.contains(&switch));
        } else if is_off && table.iter().any(|row| on(&row)) {
            terms.push(not(&switch.expression()));
            table.retain(|row, _| !row.contains(&switch));
        }
    }
    terms
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

/// Joins expressions with an operator.
pub(super) fn join(operator: &str, mut terms: Vec<String>) -> String {
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

    const A: Switch = Switch::Webhooks;
    const B: Switch = Switch::Metrics;
    const C: Switch = Switch::LeaderElection;

    /// The condition of a part that exists if `holds`, within a part that exists if `around`, with all combinations
    /// rendered.
    fn condition(
        switches: &[Switch],
        holds: impl Fn([bool; 3]) -> bool,
        around: impl Fn([bool; 3]) -> bool,
    ) -> Option<String> {
        let all = settings(&switches.iter().copied().collect());
        let renderings = Renderings::of(all.iter());
        let set = |holds: &dyn Fn([bool; 3]) -> bool| {
            let values = |combination: &Combination| [A, B, C].map(|switch| combination.contains(&switch));
            Set::In((0..all.len()).filter(|at| holds(values(&all[*at]))).collect())
        };
        let condition = renderings.condition(&set(&holds), &set(&around))?;
        Some(
            condition.replace(&A.expression(), ".a").replace(&B.expression(), ".b").replace(&C.expression(), "gt .c 1"),
        )
    }

    #[test]
    fn conditions_are_as_short_as_people_write_them() {
        let of = |holds: fn([bool; 3]) -> bool| condition(&[A, B, C], holds, |_| true);
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
        // The condition of the enclosing part is not repeated.
        assert_eq!(condition(&[A, B], |on| on[0] && on[1], |on| on[0]).unwrap(), ".b");
    }
}
