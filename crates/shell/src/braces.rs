//! Brace expansion, where it is finite.
//!
//! Owns: `{a,b}` and `{1..3}` over the atoms of a word. Does not own: what the results mean.

use crate::atoms::Atom;

/// How many words one raw word may become by brace expansion before it counts as anything.
pub(crate) const MAX_BRACE_WORDS: usize = 128;

/// The forms brace expansion gives; `None` when there are too many to list.
pub(crate) fn braces(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut budget = 1 << 18;
    braces_within(atoms, &mut budget, 0)
}

fn braces_within(atoms: &[Atom], budget: &mut usize, depth: usize) -> Option<Vec<Vec<Atom>>> {
    if depth > 16 {
        return None;
    }
    let mut from = 0;
    while let Some(open) = position(atoms, from, b'{') {
        *budget = budget.checked_sub(atoms.len())?;
        let Some((close, commas)) = group(atoms, open) else {
            from = open + 1;
            continue;
        };
        let inner = atoms.get(open + 1..close)?;
        let alternatives = if commas.is_empty() {
            match sequence(inner) {
                Sequence::Listed(alternatives) => alternatives,
                Sequence::Long => return None,
                Sequence::Not => {
                    from = open + 1;
                    continue;
                }
            }
        } else {
            let mut alternatives = Vec::new();
            let mut start = open + 1;
            for end in commas.into_iter().chain([close]) {
                alternatives.extend(braces_within(atoms.get(start..end)?, budget, depth + 1)?);
                start = end + 1;
            }
            alternatives
        };
        let tails = braces_within(atoms.get(close + 1..)?, budget, depth + 1)?;
        let head = atoms.get(..open)?;
        let mut forms = Vec::new();
        for alternative in &alternatives {
            for tail in &tails {
                *budget = budget.checked_sub(head.len() + alternative.len() + tail.len() + 1)?;
                forms.push([head, alternative.as_slice(), tail.as_slice()].concat());
            }
        }
        return Some(forms);
    }
    Some(vec![atoms.to_vec()])
}

pub(crate) fn position(atoms: &[Atom], from: usize, byte: u8) -> Option<usize> {
    let found = atoms.get(from..)?.iter().position(|atom| *atom == Atom::Plain(byte));
    found.map(|at| from + at)
}

/// The closing brace of the group that opens at `open`, and its commas.
fn group(atoms: &[Atom], open: usize) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (at, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Plain(b'{') => depth += 1,
            Atom::Plain(b'}') => {
                depth -= 1;
                if depth == 0 {
                    return Some((at, commas));
                }
            }
            Atom::Plain(b',') if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

/// What stands between braces without a comma.
enum Sequence {
    /// Text: the braces stay.
    Not,
    /// More than is listed, or with corners that differ between versions of bash.
    Long,
    Listed(Vec<Vec<Atom>>),
}

/// Reads `a..c`, `1..9`.
fn sequence(inner: &[Atom]) -> Sequence {
    let mut text = String::new();
    for atom in inner {
        match atom {
            Atom::Plain(byte) if byte.is_ascii() => text.push(char::from(*byte)),
            _ => return Sequence::Not,
        }
    }
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to) = match parts.as_slice() {
        [from, to] => (*from, *to),
        [_, _, by] if by.parse::<i64>().is_ok() => return Sequence::Long,
        _ => return Sequence::Not,
    };
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let odd = |part: &str| {
            let digits = part.trim_start_matches(['-', '+']);
            part.starts_with('+') || (digits.len() > 1 && digits.starts_with('0'))
        };
        if odd(from) || odd(to) || first.abs_diff(last) >= MAX_BRACE_WORDS as u64 {
            return Sequence::Long;
        }
        let range: Vec<i64> =
            if first <= last { (first..=last).collect() } else { (last..=first).rev().collect() };
        let atoms = |number: i64| number.to_string().bytes().map(Atom::Plain).collect();
        return Sequence::Listed(range.into_iter().map(atoms).collect());
    }
    let letter = |part: &str| match part.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    };
    let (Some(first), Some(last)) = (letter(from), letter(to)) else {
        // Digits beyond what fits a number, or plain text.
        let number = |part: &str| part.trim_start_matches(['-', '+']).parse::<u128>().is_ok();
        return if number(from) && number(to) { Sequence::Long } else { Sequence::Not };
    };
    if first.is_ascii_lowercase() != last.is_ascii_lowercase() {
        return Sequence::Long;
    }
    let range: Vec<u8> =
        if first <= last { (first..=last).collect() } else { (last..=first).rev().collect() };
    Sequence::Listed(range.into_iter().map(|byte| vec![Atom::Plain(byte)]).collect())
}
