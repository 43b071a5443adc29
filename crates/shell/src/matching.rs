//! Whether words that are only partly known are, may be, or cannot be a given text or pattern.
//!
//! Owns: three-valued matching. Does not own: what a rule means, which words are compared.
//!
//! Words become a small automaton whose edges only go forward; a pattern is a row of positions.
//! Both are walked together, so the cost is the product of their lengths.

use std::collections::BTreeMap;

use crate::word::{Glob, Pattern, Piece, Word};

/// How words stand to a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Whatever the run-time parts become, they do not match.
    No,
    /// Some value of the run-time parts matches.
    Maybe,
    /// Whatever the run-time parts become, they match.
    Yes,
}

/// Words that may vanish double the forms a certain match must hold for; beyond this many the
/// answer is [`Match::Maybe`].
const MAX_VANISHING: usize = 4;

/// How `words`, joined by one space each, stand to `pattern`.
///
/// In the pattern `*` is any run of characters, a final ` *` also matches nothing, a `:*` that ends
/// the last word is the same, `~` at the start of a word is the home folder (or itself), and `\` takes the next
/// character as it is.
pub fn matches(words: &[Word], pattern: &str) -> Match {
    let forms = compile(pattern);
    let nodes = nodes(words, b' ', For::Some);
    if !forms.iter().any(|form| walk(&nodes, form, false)) {
        return Match::No;
    }
    let vanishing: Vec<usize> =
        words.iter().enumerate().filter(|(_, word)| word.may_be_none()).map(|(at, _)| at).collect();
    if vanishing.len() > MAX_VANISHING {
        return Match::Maybe;
    }
    for absent in 0_usize..1 << vanishing.len() {
        let present: Vec<Word> = words
            .iter()
            .enumerate()
            .filter(|(at, _)| {
                let bit = vanishing.iter().position(|vanishing| vanishing == at);
                bit.is_none_or(|bit| absent & (1 << bit) == 0)
            })
            .map(|(_, word)| word.clone())
            .collect();
        let nodes = self::nodes(&present, b' ', For::All);
        if !forms.iter().any(|form| walk(&nodes, form, true)) {
            return Match::Maybe;
        }
    }
    Match::Yes
}

/// Whether these words may become exactly this list of arguments.
pub fn may_become<A: AsRef<[u8]>>(words: &[Word], arguments: &[A]) -> bool {
    let mut form = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            form.push(Step::Byte(0));
        }
        form.extend(argument.as_ref().iter().map(|byte| Step::Byte(*byte)));
    }
    if arguments.is_empty() {
        return words.iter().all(Word::may_be_none);
    }
    walk(&nodes(words, 0, For::Some), &form, false)
}

/// Whether two words may be the same text.
pub(crate) fn may_be_equal(left: &Word, right: &Word) -> bool {
    match (left.literal(), right.literal()) {
        (Some(left), Some(right)) => left == right,
        (Some(text), None) => may_become(std::slice::from_ref(right), &[text]),
        (None, Some(text)) => may_become(std::slice::from_ref(left), &[text]),
        (None, None) => {
            let (left, right) = (left.known_prefix(), right.known_prefix());
            left.starts_with(right) || right.starts_with(left)
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Byte(u8),
    Run,
    Home,
}

fn compile(pattern: &str) -> Vec<Vec<Step>> {
    let mut steps = Vec::new();
    let mut bytes = pattern.bytes().peekable();
    let mut before = b' ';
    while let Some(byte) = bytes.next() {
        match byte {
            b'*' => steps.push(Step::Run),
            b'~' if before == b' ' && matches!(bytes.peek(), None | Some(b' ' | b'/')) => {
                steps.push(Step::Home);
            }
            b'\\' => steps.extend(bytes.next().map(Step::Byte)),
            b':' if before != b' ' && bytes.peek() == Some(&b'*') && bytes.len() == 1 => {
                steps.push(Step::Byte(b' '));
            }
            _ => steps.push(Step::Byte(byte)),
        }
        before = byte;
    }
    let mut forms = Vec::new();
    if let [short @ .., Step::Byte(b' '), Step::Run] = steps.as_slice() {
        forms.push(short.to_vec());
    }
    forms.push(steps);
    forms
}

#[derive(Debug, Clone)]
enum Node {
    /// This byte.
    Byte(u8),
    /// Any run of bytes; without the separator if `within`.
    Run { within: bool },
    /// Any one byte but the separator.
    One,
    /// Any run of continuation bytes of a character.
    Tail,
    /// The pattern's own mark for the home folder, or a run that takes it.
    Home,
    /// Goes on here or at that node.
    Fork(usize),
    /// Goes on at that node.
    Jump(usize),
}

/// Which question the automaton answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    /// Whether some form of the words matches: every choice is in it.
    Some,
    /// Whether all forms do: what is chosen at run time is one node that only a run takes.
    All,
}

fn nodes(words: &[Word], separator: u8, question: For) -> Vec<Node> {
    let optional = question == For::Some;
    let mut nodes = Vec::new();
    let mut sure = false;
    for (index, word) in words.iter().enumerate() {
        let fork = (optional && word.may_be_none()).then(|| {
            nodes.push(Node::Fork(0));
            nodes.len() - 1
        });
        if index > 0 {
            // Where every word before may have vanished, this one may be the first.
            let bare = optional && !sure;
            if bare {
                let to = nodes.len() + 2;
                nodes.push(Node::Fork(to));
            }
            nodes.push(Node::Byte(separator));
        }
        match word {
            Word::Literal(text) => nodes.extend(text.bytes().map(Node::Byte)),
            Word::Pattern(pattern) => {
                pattern_nodes(pattern, question, &mut nodes);
                if optional && pattern.is_glob() {
                    repeat(pattern, separator, &mut nodes);
                }
            }
        }
        if let Some(fork) = fork {
            let end = nodes.len();
            if let Some(node) = nodes.get_mut(fork) {
                *node = Node::Fork(end);
            }
        }
        sure |= !word.may_be_none();
    }
    nodes
}

/// A file name pattern may become several words, the first and the last of which match it.
fn repeat(pattern: &Pattern, separator: u8, nodes: &mut Vec<Node>) {
    let fork = nodes.len();
    nodes.push(Node::Fork(0));
    nodes.push(Node::Byte(separator));
    nodes.push(Node::Fork(fork + 5));
    nodes.push(Node::Run { within: false });
    nodes.push(Node::Byte(separator));
    pattern_nodes(pattern, For::Some, nodes);
    let end = nodes.len();
    if let Some(node) = nodes.get_mut(fork) {
        *node = Node::Fork(end);
    }
}

fn pattern_nodes(pattern: &Pattern, question: For, nodes: &mut Vec<Node>) {
    for piece in &pattern.pieces {
        match (piece, question) {
            (Piece::Glob(_), For::All) => nodes.push(Node::Run { within: false }),
            _ => piece_nodes(piece, !pattern.splits, nodes),
        }
    }
}

fn piece_nodes(piece: &Piece, within: bool, nodes: &mut Vec<Node>) {
    match piece {
        Piece::Text(text) => nodes.extend(text.bytes().map(Node::Byte)),
        Piece::Home => {
            // The mark of a pattern for it, or an absolute path: two ways to say one thing. In some
            // places a tilde stays.
            let path = nodes.len() + 3;
            nodes.extend([
                Node::Fork(path),
                Node::Home,
                Node::Jump(path + 5),
                Node::Fork(path + 4),
                Node::Byte(b'/'),
                Node::Run { within },
                Node::Jump(path + 5),
                Node::Byte(b'~'),
            ]);
        }
        Piece::Any | Piece::Below | Piece::Pipe => nodes.push(Node::Run { within }),
        Piece::Glob(Glob::Run) => nodes.push(Node::Run { within: true }),
        Piece::Glob(Glob::One) => nodes.extend([Node::One, Node::Tail]),
        Piece::Glob(Glob::Set(text)) => {
            // One character of the set, or the set's own text where no file matches.
            let start = nodes.len();
            let literal = start + 4;
            nodes.push(Node::Fork(literal));
            nodes.push(Node::One);
            nodes.push(Node::Tail);
            nodes.push(Node::Jump(literal + text.len()));
            nodes.extend(text.bytes().map(Node::Byte));
        }
    }
}

/// Whether some text is both a form of `nodes` and of `form`; with `surely`, run-time parts are
/// only taken by a run of the form, so that the answer holds for all their values.
fn walk(nodes: &[Node], form: &[Step], surely: bool) -> bool {
    let width = form.len() + 1;
    let mut waiting: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    let mut row = vec![false; width];
    set(&mut row, 0);
    for (at, node) in nodes.iter().enumerate() {
        if let Some(more) = waiting.remove(&at) {
            row.iter_mut().zip(more).for_each(|(bit, more)| *bit |= more);
        }
        if !row.contains(&true) {
            if waiting.is_empty() {
                return false;
            }
            continue;
        }
        skip_runs(&mut row, form);
        let mut next = vec![false; width];
        match node {
            Node::Byte(byte) => step(&row, form, &mut next, |want| want == *byte),
            Node::One => step(&row, form, &mut next, |want| want != 0),
            Node::Fork(to) => {
                let target = waiting.entry(*to).or_insert_with(|| vec![false; width]);
                target.iter_mut().zip(&row).for_each(|(bit, more)| *bit |= more);
                next = row;
            }
            Node::Jump(to) => {
                let target = waiting.entry(*to).or_insert_with(|| vec![false; width]);
                target.iter_mut().zip(&row).for_each(|(bit, more)| *bit |= more);
            }
            Node::Run { .. } | Node::Tail | Node::Home if surely => {
                for (at, want) in form.iter().enumerate() {
                    let here = row.get(at).copied().unwrap_or(false);
                    match want {
                        Step::Run if here => set(&mut next, at),
                        Step::Home if here && matches!(node, Node::Home) => set(&mut next, at + 1),
                        _ => {}
                    }
                }
            }
            Node::Run { within } => run(&row, form, &mut next, |want| !within || want != 0),
            Node::Tail => run(&row, form, &mut next, |want| (0x80..0xC0).contains(&want)),
            Node::Home => {
                for (at, want) in form.iter().enumerate() {
                    if matches!(want, Step::Home) && row.get(at).copied().unwrap_or(false) {
                        set(&mut next, at + 1);
                    }
                }
            }
        }
        row = next;
    }
    if let Some(more) = waiting.remove(&nodes.len()) {
        row.iter_mut().zip(more).for_each(|(bit, more)| *bit |= more);
    }
    skip_runs(&mut row, form);
    row.last().copied().unwrap_or(false)
}

fn set(row: &mut [bool], at: usize) {
    if let Some(bit) = row.get_mut(at) {
        *bit = true;
    }
}

/// A run of the form may be empty.
fn skip_runs(row: &mut [bool], form: &[Step]) {
    for (at, want) in form.iter().enumerate() {
        if matches!(want, Step::Run) && row.get(at).copied().unwrap_or(false) {
            set(row, at + 1);
        }
    }
}

/// One byte on both sides.
fn step(row: &[bool], form: &[Step], next: &mut [bool], accepts: impl Fn(u8) -> bool) {
    for (at, want) in form.iter().enumerate() {
        if !row.get(at).copied().unwrap_or(false) {
            continue;
        }
        match want {
            Step::Byte(byte) if accepts(*byte) => set(next, at + 1),
            Step::Home if accepts(b'~') => set(next, at + 1),
            Step::Run => set(next, at),
            Step::Byte(_) | Step::Home => {}
        }
    }
}

/// Any number of bytes on both sides.
fn run(row: &[bool], form: &[Step], next: &mut [bool], accepts: impl Fn(u8) -> bool) {
    let mut reached = false;
    for (at, want) in form.iter().enumerate() {
        reached |= row.get(at).copied().unwrap_or(false);
        if !reached {
            continue;
        }
        set(next, at);
        reached = match want {
            Step::Byte(byte) => accepts(*byte),
            Step::Home | Step::Run => true,
        };
    }
    if reached || row.last().copied().unwrap_or(false) {
        set(next, form.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Word {
        Word::Literal(text.to_owned())
    }

    fn pattern(pieces: Vec<Piece>, splits: bool, none: bool) -> Word {
        Word::Pattern(Pattern { pieces, splits, none })
    }

    #[test]
    fn known_words_match_or_do_not() {
        let words = [text("git"), text("push"), text("origin")];
        assert_eq!(matches(&words, "git push *"), Match::Yes);
        assert_eq!(matches(&words[..2], "git push *"), Match::Yes);
        assert_eq!(matches(&words[..2], "git push:*"), Match::Yes);
        assert_eq!(matches(&words, "git pull *"), Match::No);
        assert_eq!(matches(&words, "git push"), Match::No);
        assert_eq!(matches(&[text("a*b")], r"a\*b"), Match::Yes);
    }

    #[test]
    fn a_word_decided_at_run_time_may_match_where_its_text_allows() {
        let quoted = pattern(vec![Piece::Any], false, false);
        let words = [text("git"), text("commit"), text("-m"), quoted.clone()];
        assert_eq!(matches(&words, "rm *"), Match::No);
        assert_eq!(matches(&words, "git commit *"), Match::Yes);
        assert_eq!(matches(&words, "git commit -m fix"), Match::Maybe);
        assert_eq!(matches(&[Word::anything(), text("-rf")], "rm *"), Match::Maybe);
        assert_eq!(
            matches(&[text("git"), text("push"), Word::anything()], "git push *"),
            Match::Yes
        );
    }

    #[test]
    fn home_is_home_and_may_be_a_path() {
        let home = pattern(vec![Piece::Home], false, false);
        let words = [text("rm"), text("-rf"), home];
        assert_eq!(matches(&words, "rm -rf ~"), Match::Yes);
        assert_eq!(matches(&words, "rm -rf /home/*"), Match::Maybe);
    }

    #[test]
    fn a_glob_may_be_what_it_stands_for_or_its_own_text() {
        let glob = pattern(
            vec![Piece::Text("/bin/r".into()), Piece::Glob(Glob::Set("[m]".into()))],
            false,
            false,
        );
        assert!(may_become(&[glob.clone(), text("x")], &["/bin/rm", "x"]));
        assert!(may_become(std::slice::from_ref(&glob), &["/bin/r[m]"]));
        assert!(may_become(std::slice::from_ref(&glob), &["/bin/rm", "/bin/rx", "/bin/ry"]));
        assert!(!may_become(std::slice::from_ref(&glob), &["/bin/rm", "/bin/cat"]));
        assert!(!may_become(std::slice::from_ref(&glob), &["/bin/cat"]));
        assert_eq!(matches(std::slice::from_ref(&glob), r"/bin/r[m]"), Match::Maybe);
        assert_eq!(matches(&[glob], "/bin/*"), Match::Yes);
    }

    #[test]
    fn words_may_vanish_or_be_several() {
        let words = [text("a"), Word::anything(), text("b")];
        assert!(may_become(&words, &["a", "b"]));
        assert!(may_become(&words, &["a", "1", "2", "b"]));
        assert!(!may_become(&words, &["a", "1", "2"]));
        let quoted = [text("a"), pattern(vec![Piece::Any], false, false)];
        assert!(may_become(&quoted, &["a", ""]));
        assert!(!may_become(&quoted, &["a"]));
        assert!(!may_become(&quoted, &["a", "x", "y"]));
        assert!(may_become(&[Word::anything(), text("x")], &["x"]));
    }
}
