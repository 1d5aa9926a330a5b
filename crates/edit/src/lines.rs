//! Edits any text file by applying the difference between two renderings of its template.
//!
//! The position must be unambiguous, otherwise the edit is refused. Everything else stays.

use super::EditError;
use super::text::newline;

/// Replaces the lines of `before` that differ in `after`.
pub fn change(text: &str, before: &str, after: &str) -> Result<String, EditError> {
    if text == before {
        return Ok(after.into());
    }
    let [old, new]: [Vec<&str>; 2] = [before, after].map(|text| text.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (previous, next) = (&old[..start], &old[old.len() - end..]);
    let (previous, next) = (&previous[start.saturating_sub(1)..], &next[..end.min(1)]);
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);

    let whole: Vec<&str> = text.split_inclusive('\n').collect();
    let lines: Vec<&str> = text.lines().collect();
    let at = match old {
        [] if find(&lines, new).is_some() => return Ok(text.into()),
        [] => {
            let between = find(&lines, &[previous, next].concat()).map(|at| at + previous.len());
            between.or_else(|| find(&lines, previous).map(|at| at + 1)).or_else(|| find(&lines, next))
        }
        _ => find(&lines, old),
    };
    let Some(at) = at else {
        let is_done = match new {
            [] => find(&lines, &[previous, next].concat()).is_some() || !old.iter().any(|old| is_named(&lines, old)),
            _ => find(&lines, new).is_some(),
        };
        return if is_done { Ok(text.into()) } else { Err(refuse(old, new)) };
    };
    let mut changed = whole[..at].concat();
    if !changed.is_empty() && !changed.ends_with('\n') {
        changed.push_str(newline(text));
    }
    new.iter().for_each(|line| changed.extend([line, newline(text)]));
    Ok(changed + &whole[at + old.len()..].concat())
}

/// The index of these lines, if they occur exactly once.
fn find(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places = (0..lines.len()).filter(|at| !wanted.is_empty() && lines[*at..].starts_with(wanted));
    places.next().filter(|_| places.next().is_none())
}

/// `true` if the text contains this line, unless it is a common one such as `env:`.
fn is_named(lines: &[&str], wanted: &str) -> bool {
    const TELLING: usize = 12;
    wanted.trim().len() > TELLING && lines.iter().any(|line| line.trim() == wanted.trim())
}

fn refuse(old: &[&str], new: &[&str]) -> EditError {
    let listed = |lines: &[&str]| lines.iter().map(|line| format!("\n    {line}")).collect::<String>();
    let change = match (old, new) {
        ([], new) => format!("add these lines:{}", listed(new)),
        (old, []) => format!("remove these lines, or their current form:{}", listed(old)),
        (old, new) => {
            format!("replace these lines, or their current form:{}\nby these:{}", listed(old), listed(new))
        }
    };
    EditError {
        at: None,
        reason: "cannot find the place to edit, because the file was changed there".into(),
        help: format!("{change}\nthen run the command again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: &str = "a:\n- level\nports:\n- b\n";
    const ON: &str = "a:\n- level\n- name: WATCH\n  value: x\nports:\n- b\n";

    fn there_and_back(off: &str, on: &str) {
        assert_eq!(change(off, OFF, ON).unwrap(), on);
        assert_eq!(change(on, OFF, ON).unwrap(), on, "twice is once");
        assert_eq!(change(on, ON, OFF).unwrap(), off);
        assert_eq!(change(off, ON, OFF).unwrap(), off, "twice is once");
    }

    #[test]
    fn changes_a_text_that_was_changed_elsewhere() {
        there_and_back(OFF, ON);
        let crlf = |text: &str| text.replace('\n', "\r\n");
        there_and_back(&crlf(OFF), &crlf(ON));
        let changed = |text: &str| text.replace("level", "debug").replace("- b", "- c") + "# mine";
        there_and_back(&changed(OFF), &changed(ON));
        let mixed = |text: &str| text.replace("- b\n", "- b\r\n");
        there_and_back(&mixed(OFF), &mixed(ON));
    }

    #[test]
    fn replaces_a_line() {
        let other = ON.replace("value: x", "value: y");
        assert_eq!(change(ON, ON, &other).unwrap(), other);
        assert_eq!(change(&other, ON, &other).unwrap(), other);
    }

    #[test]
    fn refuses_where_the_place_is_unclear() {
        let elsewhere = OFF.replace("level", "debug");
        let refused = change(&(elsewhere.clone() + &elsewhere), OFF, ON).unwrap_err();
        assert!(refused.help.contains("\n    - name: WATCH\n      value: x\nthen run"), "{}", refused.help);
        assert!(change(&ON.replace("value: x", "value: y"), ON, OFF).is_err());
    }
}
