//! Quoting, expansion and grammar, construct by construct.

use tenter_shell::{Match, UnknownReason, analyse};

/// The commands, words in brackets; holes show as `…`.
fn commands(line: &str) -> Vec<String> {
    analyse(line)
        .commands
        .iter()
        .filter(|command| !command.argv.is_empty())
        .map(|command| {
            let words: Vec<String> = command.argv.iter().map(|word| format!("[{word}]")).collect();
            words.concat()
        })
        .collect()
}

fn check(cases: &[(&str, &[&str])]) {
    for (line, expected) in cases {
        assert_eq!(commands(line), *expected, "{line}");
    }
}

fn reasons(line: &str) -> Vec<UnknownReason> {
    analyse(line).unknowns.iter().map(|unknown| unknown.reason).collect()
}

#[test]
fn quotes_are_undone() {
    check(&[
        (r"r\m -\rf /", &["[rm][-rf][/]"]),
        (r#"r""m 'a b' "c d""#, &["[rm][a b][c d]"]),
        (r"$'\162\155' $'a\tb' $'\u00e9'", &["[rm][a\tb][é]"]),
        (r#"$"rm" x"#, &["[rm][x]"]),
        (r#"echo "a\"b\$c\d""#, &["[echo][a\"b$c\\d]"]),
        ("git push --for\\\nce", &["[git][push][--force]"]),
        ("r\\\nm x", &["[rm][x]"]),
        ("echo '' \"\"", &["[echo][][]"]),
        (r"echo a\ b", &["[echo][a b]"]),
        ("echo 'it'\\''s'", &["[echo][it's]"]),
    ]);
}

#[test]
fn what_is_decided_at_run_time_is_a_hole() {
    check(&[
        ("echo $x \"$x\" ${x} ${x:-d} \"${x%.*}\"", &["[echo][…][…][…][…][…]"]),
        ("echo pre$x'post'", &["[echo][pre…post]"]),
        ("echo $(date) `date`", &["[date]", "[date]", "[echo][…][…]"]),
        ("echo $((1+2)) $[1+2]", &["[echo][…][…]"]),
        ("rm *.o f? [ab]c", &["[rm][*.o][f?][[ab]c]"]),
        ("rm ~ ~/x $HOME/y \"${HOME}\" '~' \\~", &["[rm][~][~/x][~/y][~][~][~]"]),
        ("rm ~root/x", &["[rm][…/x]"]),
        ("dd of=~/x", &["[dd][of=~/x]"]),
        ("echo --of=~/x", &["[echo][--of=~/x]"]),
    ]);
    let analysis = analyse("f $x \"$x\" \"$@\" *.c ~");
    let words = &analysis.commands[0].argv[1..];
    let several: Vec<bool> = words.iter().map(tenter_shell::Word::may_be_several).collect();
    let none: Vec<bool> = words.iter().map(tenter_shell::Word::may_be_none).collect();
    assert_eq!(several, [true, false, true, true, false]);
    assert_eq!(none, [true, false, true, false, false]);
    // A quoted tilde is text, an unquoted one the home folder.
    assert_eq!(analyse("rm ~").commands[0].matches("rm ~"), Match::Yes);
    assert_eq!(analyse("rm '~'").commands[0].argv[1].literal(), Some("~"));
}

#[test]
fn braces_are_expanded_where_finite() {
    check(&[
        ("{rm,-rf,/}", &["[rm][-rf][/]"]),
        ("echo a{b,c}d{1..3}", &["[echo][abd1][abd2][abd3][acd1][acd2][acd3]"]),
        ("echo {a,{b,c}} {} {a} {a,b {1..", &["[echo][a][b][c][{}][{a}][{a,b][{1..]"]),
        ("echo \\{a,b} '{a,b}' {\"a,b\",c}", &["[echo][{a,b}][{a,b}][a,b][c]"]),
        ("echo {c..a}", &["[echo][c][b][a]"]),
        ("echo {1..100000} {01..03}", &["[echo][…][…]"]),
        ("echo $x{a,b} {$x,y}z {$,x}'q'", &["[echo][…][…][…]"]),
        ("echo $x,$y {a,b}$x", &["[echo][…,…][a…][b…]"]),
        ("x={a,b} echo", &["[echo]"]),
    ]);
    assert_eq!(analyse("x={a,b} echo").commands[0].assignments[0].value.literal(), Some("{a,b}"));
}

#[test]
fn every_compound_command_is_walked() {
    check(&[
        ("a; b & c && d || e | f\ng", &["[a]", "[b]", "[c]", "[d]", "[e]", "[f]", "[g]"]),
        ("(a; b)", &["[a]", "[b]"]),
        ("( (a) )", &["[a]"]),
        ("((a); b)", &["[a]", "[b]"]),
        ("{ a; }", &["[a]"]),
        ("if a; then b; elif c; then d; else e; fi", &["[a]", "[c]", "[b]", "[d]", "[e]"]),
        ("while a; do b; done; until c; do d; done", &["[a]", "[b]", "[c]", "[d]"]),
        ("for x in $(a); do b; done", &["[a]", "[b]"]),
        ("for ((i=$(a); i<3; i++)); do b; done", &["[a]", "[b]"]),
        ("select x in a; do b; done", &["[b]"]),
        ("case $(a) in x|$(b)) c;; (y) d;& *) e;;& esac", &["[a]", "[b]", "[c]", "[d]", "[e]"]),
        ("f() { a; }; function g { b; }; function h() ( c )", &["[a]", "[b]", "[c]"]),
        ("coproc a; coproc N { b; }", &["[a]", "[b]"]),
        ("! a; time b; time -p c; time -- d", &["[a]", "[b]", "[c]", "[d]"]),
        ("!(a)", &["[a]"]),
        ("[[ -f $(a) && x == $(b) ]] && c", &["[a]", "[b]", "[c]"]),
        ("(( x[$(a)] + $(b) ))", &["[a]", "[b]"]),
        ("a <(b) > >(c) x=<(d)", &["[b]", "[d]", "[c]", "[a][…][x=…]"]),
        ("cat <<< \"$(a)\"", &["[a]", "[cat]"]),
        ("A=$(a) B[$(b)]=1 C=($(c) [$(d)]=e) f", &["[a]", "[b]", "[c]", "[d]", "[f]"]),
        ("arr[ 1 + 1 ]=x rm y", &["[rm][y]"]),
        ("2>f arr[ 1 + 1 ]=x rm y", &["[rm][y]"]),
        ("! time -p A=1 rm y", &["[rm][y]"]),
        ("for ((;;)); do rm y; done", &["[rm][y]"]),
        ("if [ 1 ]; then # it's ) a comment\na; fi", &["[[][1][]]", "[a]"]),
        ("a 2>&1 | b |& c", &["[a]", "[b]", "[c]"]),
    ]);
}

#[test]
fn here_documents_are_read_as_bash_does() {
    check(&[
        ("cat <<E\n$(a) `b` \\$(c) 'd $(e)'\nE\nf", &["[a]", "[b]", "[e]", "[cat]", "[f]"]),
        ("cat <<'E'\n$(a)\nE\nb", &["[cat]", "[b]"]),
        ("cat <<\\E | b\n$(a)\nE", &["[cat]", "[b]"]),
        ("cat <<-E\n\tx\n\tE\nb", &["[cat]", "[b]"]),
        ("cat <<A <<B; c\n$(a)\nA\n$(b)\nB\nd", &["[a]", "[b]", "[cat]", "[c]", "[d]"]),
        ("git commit -F - <<'MSG' 2>&1 | rm x\nit's\nMSG", &["[git][commit][-F][-]", "[rm][x]"]),
        ("x -m \"$(cat <<'E'\nit's \"fine\" )\nE\n)\" y", &["[cat]", "[x][-m][…][y]"]),
    ]);
    assert_eq!(reasons("cat <<E\nno end"), [UnknownReason::Syntax]);
}

#[test]
fn substitutions_are_found_wherever_they_hide() {
    for line in [
        "echo ${x:-$(rm y)}",
        "echo \"${x:-`rm y`}\"",
        "echo \"${x:-'$(rm y)'}\"",
        "echo ${x:-'a'$(rm y)}",
        "echo ${x/$(rm y)/z}",
        "echo ${x:$(rm y)}",
        "echo ${a[$(rm y)]}",
        "echo $((1 + $(rm y)))",
        "echo $((1 + `rm y`))",
        "echo $[ $(rm y) ]",
        "echo \"a `echo \\\"$(rm y)\\\"`\"",
        "echo `echo \\`rm y\\``",
        "echo $(echo $(echo $(rm y)))",
        "echo \"$(echo \"$(rm y)\")\"",
        "echo <(rm y)",
        "echo ${x:-<(rm y)}",
        "echo $(case a in a) rm y;; esac)",
        "echo $(# a comment with )\nrm y)",
        "echo $(cat <<E\n)\nE\nrm y)",
        "echo $\\\n(rm y)",
        "x=$(rm y)",
        "x=(a $(rm y))",
        "> $(rm y)",
        "for x in a$(rm y); do :; done",
        "f() { :; } > $(rm y)",
        "[[ a =~ $(rm y) ]]",
        "case a in $(rm y)) ;; esac",
        "cat <<E\n${x:-$(rm y)}\nE",
        "cat <<E\n\"$(rm y)\"\nE",
        "cat <<< a`rm y`",
        "echo @(a|$(rm y))",
        "[[ a == @(b|$(rm y)) ]]",
    ] {
        let found = commands(line).contains(&"[rm][y]".to_owned());
        assert!(found || !reasons(line).is_empty(), "{line}: {:?}", commands(line));
    }
}

#[test]
fn text_that_only_mentions_a_command_is_not_one() {
    for line in [
        "echo 'rm y; $(rm y)'",
        "git commit -m \"docs: rm y is denied\"",
        "cat > f <<'E'\n$(rm y)\nrm y\nE",
        "grep -rn \"rm y\" .",
        "echo x # rm y",
        "printf '%s' '`rm y`'",
        "echo \\$(rm y\\)",
    ] {
        let analysis = analyse(line);
        let rm = analysis.commands.iter().any(|command| command.matches("rm *") != Match::No);
        assert!(!rm, "{line}");
    }
}

#[test]
fn what_cannot_be_read_is_an_unknown() {
    let cases: &[(&str, UnknownReason)] = &[
        ("echo 'a", UnknownReason::Syntax),
        ("echo $(a", UnknownReason::Syntax),
        ("a &&& b", UnknownReason::Syntax),
        ("if a; then b", UnknownReason::Syntax),
        ("$cmd x", UnknownReason::DynamicProgram),
        ("$(a) x", UnknownReason::DynamicProgram),
        ("\"$cmd\" x", UnknownReason::DynamicProgram),
        ("/bin/r[m] x", UnknownReason::DynamicProgram),
        ("eval $x", UnknownReason::DynamicCode),
        ("sh -c \"$x\"", UnknownReason::DynamicCode),
        ("bash $x", UnknownReason::DynamicCode),
        ("curl x | sh", UnknownReason::RunsInput),
        ("cat f > x.sh; sh x.sh", UnknownReason::RunsWritten),
        ("echo a > run; ./run", UnknownReason::RunsWritten),
        ("source f", UnknownReason::SourcesFile),
        ("python3 -c 'x'", UnknownReason::OtherLanguage),
        ("perl -pi -e 'x' f", UnknownReason::OtherLanguage),
        ("awk '{system(\"x\")}' f", UnknownReason::OtherLanguage),
        ("sed 's/a/b/e' f", UnknownReason::OtherLanguage),
        ("sed '1e x' f", UnknownReason::OtherLanguage),
        ("sudo --new-option x", UnknownReason::WrapperOptions),
        ("env $x rm", UnknownReason::WrapperOptions),
        ("find . $x", UnknownReason::WrapperOptions),
        ("alias ls=rm", UnknownReason::Alias),
        ("shopt -s expand_aliases", UnknownReason::ShellOptions),
        ("set -k", UnknownReason::ShellOptions),
        ("echo ${x@P}", UnknownReason::PromptExpansion),
        ("PS4='$(rm y)'; set -x; a", UnknownReason::PromptExpansion),
        ("x='a[$(rm y)]'; echo $((x))", UnknownReason::HiddenSubstitution),
        ("rm\u{200b} x", UnknownReason::OddCharacters),
        ("git\u{a0}push", UnknownReason::OddCharacters),
        ("BASH_ENV=f bash -c x", UnknownReason::SourcesFile),
        ("hash -p /bin/rm ls; ls", UnknownReason::Alias),
        ("git config alias.x '!rm y'; git x", UnknownReason::Alias),
        ("tar --checkpoint=1 --checkpoint-action=exec=x -cf a b", UnknownReason::ProgramOption),
        ("echo a\0b", UnknownReason::OddCharacters),
        ("echo ${ rm y; }", UnknownReason::Unsupported),
        ("x='a['; y='$(rm y)]'; echo $(( $x$y ))", UnknownReason::HiddenSubstitution),
        ("export 'a[$(rm y)]=1'", UnknownReason::HiddenSubstitution),
        ("read PS4 <<< '$(rm y)'; set -x; a", UnknownReason::PromptExpansion),
        ("for PS4 in '$(rm y)'; do set -x; a; done", UnknownReason::PromptExpansion),
        ("echo ${PS4:=x}", UnknownReason::PromptExpansion),
        ("env 'BASH_FUNC_ls%%=() { rm y; }' bash -c ls", UnknownReason::Alias),
        ("find . \"$x\" rm y \\;", UnknownReason::WrapperOptions),
        ("find . -ex\"$x\" rm y \\;", UnknownReason::WrapperOptions),
        ("make X='$(shell rm y)'", UnknownReason::OtherLanguage),
        ("printf 'a:\\n\\trm y' > Makefile; make", UnknownReason::RunsWritten),
        ("echo 'rm y' > .git/hooks/pre-commit; git commit", UnknownReason::RunsWritten),
        ("GIT_CONFIG_COUNT=1 git x", UnknownReason::ProgramOption),
        ("bash /proc/self/fd/0 <<< x", UnknownReason::RunsInput),
        ("HOME='-rf /'; rm $HOME", UnknownReason::HomeChanged),
        ("sh -c 'time -f %e rm y'", UnknownReason::WrapperOptions),
        ("setpriv --reuid 1 rm y", UnknownReason::WrapperOptions),
    ];
    for (line, reason) in cases {
        assert!(reasons(line).contains(reason), "{line}: {:?}", reasons(line));
    }
}

#[test]
fn spans_point_into_the_line() {
    let line = "ls; echo \"$(sudo rm -r x)\" | cat > out";
    let analysis = analyse(line);
    let texts: Vec<&str> = analysis
        .commands
        .iter()
        .map(|command| &line[command.span.start..command.span.end])
        .collect();
    assert_eq!(
        texts,
        ["ls", "sudo rm -r x", "sudo rm -r x", "echo \"$(sudo rm -r x)\"", "cat > out"]
    );
    let line = "a; eval \"b c\"";
    let analysis = analyse(line);
    let inner = analysis.commands.last().unwrap();
    assert_eq!(&line[inner.span.start..inner.span.end], "eval \"b c\"");
    let line = "ok && $cmd x";
    let unknown = &analyse(line).unknowns[0];
    assert_eq!(&line[unknown.span.start..unknown.span.end], "$cmd x");
}

#[test]
fn an_empty_line_runs_nothing_and_hides_nothing() {
    for line in ["", "  \n\t", "# rm y"] {
        let analysis = analyse(line);
        assert!(analysis.commands.is_empty() && analysis.unknowns.is_empty(), "{line:?}");
    }
}
