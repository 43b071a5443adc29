//! Whatever the text, the answer comes, within the limits, without a panic or an abort.

use std::time::{Duration, Instant};

use tenter_shell::{Analysis, UnknownReason, analyse, limits};

fn reasons(analysis: &Analysis) -> Vec<UnknownReason> {
    analysis.unknowns.iter().map(|unknown| unknown.reason).collect()
}

/// Takes far less than this where nothing hangs, on a busy machine and in a debug build too.
const HANG: Duration = Duration::from_secs(30);

fn in_time(name: &str, line: &str) -> Analysis {
    let start = Instant::now();
    let analysis = analyse(line);
    assert!(start.elapsed() < HANG, "{name} took {:?}", start.elapsed());
    analysis
}

#[test]
fn a_line_over_the_limit_is_one_unknown_of_the_whole_line() {
    let line = "echo a; ".repeat(limits::MAX_BYTES / 8 + 1);
    let analysis = analyse(&line);
    assert_eq!(reasons(&analysis), [UnknownReason::TooLong]);
    assert!(analysis.commands.is_empty());
    assert_eq!(analysis.unknowns[0].span.end, line.len());
}

#[test]
fn a_line_at_the_limit_is_analysed() {
    let line = "echo abc; ".repeat(limits::MAX_BYTES / 10);
    let analysis = in_time("a long list", &line);
    assert!(analysis.unknowns.is_empty());
    assert_eq!(analysis.commands.len(), limits::MAX_BYTES / 10);
}

#[test]
fn nesting_of_every_kind_ends_in_an_answer() {
    let kinds: &[(&str, &str, &str)] = &[
        ("group", "{ ", "; }"),
        ("subshell", "( ", " )"),
        ("subshells without blanks", "(", ")"),
        ("substitution", "echo $(", ")"),
        ("quoted substitution", "echo \"$(", ")\""),
        ("process substitution", "cat <(", ")"),
        ("if", "if true; then ", "; fi"),
        ("condition", "if ", "; then true; fi"),
        ("while", "while ", "; do true; done"),
        ("for", "for x in a; do ", "; done"),
        ("case", "case x in x) ", ";; esac"),
        ("case without end of branch", "case x in x) ", "\nesac"),
        ("function", "f() { ", "; }"),
        ("arithmetic", "$((", "))"),
        ("arithmetic that is not", "$(( $(", ") )"),
        ("parameter", "${x:-", "}"),
        ("quoted parameter", "\"${x:-", "}\""),
        ("bracket", "$[", "]"),
        ("coprocess", "coproc ", ""),
        ("not", "! ", ""),
        ("test", "[[ ( ", " ) ]]"),
        ("braces", "{a,", "}"),
        ("env", "env ", ""),
        ("sudo", "sudo ", ""),
        ("eval", "eval ", ""),
        ("brackets", "[", "]"),
        ("quotes", "\"", "\""),
        ("here", "cat <<A\n", "\nA\n"),
    ];
    for (name, open, close) in kinds {
        for depth in [1, 10, 30, 100, 150, 300, 1000, 10_000] {
            let mut line = open.repeat(depth);
            line.push_str("echo x");
            line.push_str(&close.repeat(depth));
            line.truncate(limits::MAX_BYTES);
            for line in [line.clone(), open.repeat(depth), format!("{line}{close}")] {
                let analysis = in_time(name, &line);
                // Two parentheses in a row are arithmetic, which runs nothing.
                let empty = analysis.commands.is_empty() && analysis.unknowns.is_empty();
                let runs = line.contains("echo x") && !line.starts_with("((");
                assert!(!empty || !runs, "{name} at {depth} gives nothing");
            }
        }
    }
}

#[test]
fn what_fits_no_stack_of_ours_is_too_deep_and_what_fits_is_found() {
    let nested = |depth: usize| format!("{}rm x{}", "{ ".repeat(depth), "; }".repeat(depth));
    for depth in [1, 20, 60, 150] {
        let analysis = analyse(&nested(depth));
        assert!(analysis.unknowns.is_empty(), "{depth}: {:?}", analysis.unknowns);
        assert!(analysis.commands.iter().any(|command| command.program() == Some("rm")));
    }
    assert_eq!(reasons(&analyse(&nested(limits::MAX_DEPTH + 1))), [UnknownReason::TooDeep]);
    let nested = |depth: usize| format!("{}rm x{}", "$(".repeat(depth), ")".repeat(depth));
    let analysis = analyse(&nested(40));
    assert!(analysis.commands.iter().any(|command| command.program() == Some("rm")));
    assert!(reasons(&analyse(&nested(500))).contains(&UnknownReason::TooDeep));
}

#[test]
fn a_deep_line_gets_its_answer_on_a_small_stack() {
    let line = format!("{}rm x{}", "( ".repeat(180), " )".repeat(180));
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let analysis = thread.spawn(move || analyse(&line)).unwrap().join().unwrap();
    assert!(analysis.commands.iter().any(|command| command.program() == Some("rm")));
}

#[test]
fn texts_that_expand_without_end_are_cut_off() {
    for line in [
        "{a,b}".repeat(500),
        format!("echo {}", "{1..9}".repeat(2000)),
        format!("eval 'eval \"eval {}\"'", "x ".repeat(20_000)),
        format!("{}x", "env ".repeat(10_000)),
        format!("{}x", "find . -exec ".repeat(4000)),
        "`".repeat(2001),
        "\\".repeat(65_535),
        "$".repeat(65_535),
        "<<A ".repeat(16_000),
        "a=(".repeat(20_000),
        "echo 99999999999999999999>x".to_owned(),
        "echo {1..99999999999999999999}".to_owned(),
        "echo {-9223372036854775808..9223372036854775807}".to_owned(),
        "$(( ".repeat(16_000),
        "((".repeat(30_000),
        // Parentheses that may be read in two ways at each level.
        format!("{}a{}", "(!)(".repeat(40), ")".repeat(40)),
        format!("f{}a{}", "()(".repeat(4000), ")".repeat(4000)),
        "((a) ".repeat(12_000),
        // What looks like a subscript, with expansions that open and open.
        format!("K[\"{}x\"]", "w,,{${[}l${${$}".repeat(40)),
        format!("K[{}x{}]=1", "${a[${".repeat(40), "}]}".repeat(40)),
        format!("K[A$(()B[{}x{}]", "(".repeat(34), ")()".repeat(20)),
        format!("K[`a`{}x", "`(".repeat(40)),
        // Many folders and many files, each in each, through links that lead through each other.
        format!(
            "ln -s a b/a\nln -s b/a a\ncp {} {} x",
            "-t{a,b,c}{d,e,f}{g,h,i}{j,k,l} ", "{1..100}"
        ),
        format!("ln -s ./x/y/{} x\ncat {}", "z".repeat(200), "x/".repeat(300)),
        format!("K[{}{}", "${T[ddd[d{}".repeat(12), "${{} z z$2x".repeat(12)),
        format!("K[{}x{}]=1", "${T[a[${".repeat(12), "}]]}".repeat(12)),
        "(( a ) ".repeat(9000),
        "$((a) ".repeat(10_000),
    ] {
        let analysis = in_time(&line[..line.len().min(20)], &line);
        assert!(!analysis.commands.is_empty() || !analysis.unknowns.is_empty());
    }
}

/// What random lines are made of.
const PARTS: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "{",
    "}",
    "${",
    "((",
    "))",
    "<<A",
    "\nA\n",
    "\n",
    ";",
    ";;",
    "&",
    "|",
    "||",
    "&&",
    "<",
    ">",
    "<(",
    ">(",
    ">&",
    "2>",
    "{a,b}",
    "..",
    "[",
    "]",
    "[[",
    "]]",
    "if ",
    "then ",
    "fi ",
    "for ",
    "in ",
    "do ",
    "done ",
    "case ",
    "esac ",
    "while ",
    "function f ",
    "f() ",
    "coproc ",
    "time ",
    "! ",
    "x",
    "y=",
    "a[",
    "-c ",
    "sh ",
    "env ",
    "find ",
    "-exec ",
    "git ",
    "\\",
    "\\\n",
    "$",
    "$'",
    "\\x4",
    "é",
    "\u{200b}",
    "\0",
    "\r",
    "\t",
    " ",
    "#",
    "~",
    "*",
    "?",
    "=",
    ",",
    "@P",
    ":-",
    "!",
    "select ",
    "eval ",
    "xargs ",
    "-I{} ",
    "sudo ",
    "+(",
    "=~ ",
];

#[test]
fn random_text_never_panics() {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from((state >> 11) % bound as u64).unwrap()
    };
    for _ in 0..30_000 {
        let mut line = String::new();
        for _ in 0..=next(24) {
            line.push_str(PARTS[next(PARTS.len())]);
        }
        let analysis = analyse(&line);
        for unknown in &analysis.unknowns {
            assert!(
                unknown.span.start <= unknown.span.end && unknown.span.end <= line.len(),
                "{line:?}"
            );
        }
        for command in &analysis.commands {
            assert!(line.get(command.span.start..command.span.end).is_some(), "{line:?}");
        }
    }
}
