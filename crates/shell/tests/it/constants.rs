//! Variables whose value the line itself says.

use tenter_shell::{Match, UnknownReason, analyse};

fn words(line: &str) -> String {
    let analysis = analyse(line);
    let last = analysis.commands.iter().rev().find(|command| !command.argv.is_empty());
    let words = last.map(|command| command.argv.clone()).unwrap_or_default();
    let words: Vec<String> = words.iter().map(|word| format!("[{word}]")).collect();
    words.concat()
}

#[test]
fn a_plain_assignment_is_known_in_what_follows() {
    for (line, expected) in [
        ("R=rm; $R -rf /", "[rm][-rf][/]"),
        ("X=/etc; rm -rf \"$X\"", "[rm][-rf][/etc]"),
        ("X=/etc && rm -rf ${X}/a", "[rm][-rf][/etc/a]"),
        ("export D=~/.ssh && cat $D/id_rsa", "[cat][~/.ssh/id_rsa]"),
        ("D=$HOME/a\ncat \"$D\"", "[cat][~/a]"),
        ("A=r; B=m; $A$B x", "[rm][x]"),
        ("A=r B=m; $A\"$B\" x", "[rm][x]"),
        ("A=rm; B=$A; $B x", "[rm][x]"),
        ("A=r; A+=m; $A x", "[rm][x]"),
        ("A='rm -rf'; $A /", "[rm][-rf][/]"),
        ("A=' -rf '; rm x$A/", "[rm][x][-rf][/]"),
        ("A='a b'; rm \"$A\"", "[rm][a b]"),
        ("A=; $A rm x", "[rm][x]"),
        ("A=; rm \"$A\"", "[rm][]"),
        ("A=rm; (a; $A x)", "[rm][x]"),
        ("A=rm; $A x &", "[rm][x]"),
        ("A=rm; if a; then $A x; fi", "[rm][x]"),
        ("A=rm; a | $A x", "[rm][x]"),
        ("A=rm; a || $A x", "[rm][x]"),
        ("A=rm; echo $($A x)", "[echo][…]"),
        ("A=rm; if a; then B=c; fi; $A x", "[rm][x]"),
        ("A=rm; eval '$A x'", "[rm][x]"),
        ("A='{a,b}'; rm $A", "[rm][{a,b}]"),
        ("A='*'; rm \"$A\"", "[rm][*]"),
        ("A='~'; rm $A", "[rm][~]"),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
    assert_eq!(analyse("R=rm; $R -rf /").commands[1].matches("rm -rf /"), Match::Yes);
    assert!(analyse("R=rm; $R -rf /").unknowns.is_empty());
    let inner = analyse("A=rm; echo $($A x)");
    assert!(inner.commands.iter().any(|command| command.matches("rm x") == Match::Yes));
    assert_eq!(
        analyse("A=rm; bash <<E\n$A x\nE").commands.last().unwrap().matches("rm x"),
        Match::Yes
    );
}

#[test]
fn what_is_not_certain_stays_open() {
    for line in [
        "if a; then R=rm; fi; $R x",
        "a && R=rm; $R x",
        "a || R=rm; $R x",
        "(R=rm); $R x",
        "R=rm & $R x",
        "R=rm | a; $R x",
        "for R in rm; do a; done; $R x",
        "for i in a; do R=rm; done; $R x",
        "while $R x; do R=rm; done",
        "f() { R=rm; }; $R x",
        "R=ls; f() { R=rm; }; f; $R x",
        "R=ls; read R; $R x",
        "R=ls; unset R; $R x",
        "R=ls; eval \"$c\"; $R x",
        "R=ls; source f; $R x",
        "R=ls; $c R; $R x",
        "R=ls; R+=$a; $R x",
        "R=ls; R[0]=rm; $R x",
        "R=(rm); $R x",
        "R=$(a); $R x",
        "R=ls; printf -v R rm; $R x",
        "R=ls; declare R=rm; $R x",
        "declare -n R=S; R=ls; S=rm; $R x",
        "declare -u R; R=ls; $R x",
        "readonly R; R=ls; $R x",
        "R=ls; (( R = 1 )); $R x",
        "R=ls; y='R=1'; (( y )); $R x",
        "R=ls; echo $((R=1)); $R x",
        "R=ls; ${R:=rm}; $R x",
        "IFS=l; R=ls; $R x",
        "R=ls; IFS=l; $R x",
        "R=ls; a {R}>f; $R x",
        "R=ls; coproc R { a; }; $R x",
        "trap 'R=rm' DEBUG; R=ls; $R x",
        "R=l*; $R x",
        "R=ls sh -c '$R x'",
        "R=ls; sh -c '$R x'",
        "RANDOM=ls; $RANDOM x",
        "_=ls; $_ x",
        "R=ls > f; $R x",
        "R=ls :; $R x",
        "R=ls; R=rm a; $R x",
        "echo $((R=1))$R",
    ] {
        let found = words(line);
        let open = found.starts_with("[…]")
            || found.starts_with("[echo][……]")
            || analyse(line).unknowns.iter().any(|one| one.reason == UnknownReason::DynamicProgram);
        assert!(open, "{line}: {found}");
    }
}

#[test]
fn values_do_not_multiply_without_end() {
    let doubled = format!("a={}; {}", "x".repeat(200), "a=$a$a; ".repeat(40));
    assert!(analyse(&doubled).commands.iter().all(|command| command.argv.is_empty()));
    let line = format!("a={}; echo {}", "x".repeat(250), "$a ".repeat(20_000));
    let length: usize =
        analyse(&line).commands[1].argv.iter().map(|word| word.to_string().len()).sum();
    assert!(length < 200_000, "{length}");
    let many: Vec<String> = (0..2000).map(|at| format!("v{at}=a; (echo $v{at}); ")).collect();
    assert!(analyse(&many.concat()).unknowns.is_empty());
}
