//! In which folder a relative path starts.

use tenter_shell::analyse;

/// The files that are read; `?` stands before one whose folder is not known.
fn reads(line: &str) -> Vec<String> {
    let shown = |one: tenter_shell::FileUse| {
        format!("{}{}", if one.elsewhere { "?" } else { "" }, one.path)
    };
    analyse(line).reads.into_iter().map(shown).collect()
}

#[test]
fn a_folder_holds_as_long_as_the_shell_is_in_it() {
    let cases: &[(&str, &[&str])] = &[
        ("cat x", &["x"]),
        ("cd app && cat x", &["app/x"]),
        ("cd ./app/ && cat ./x /y ~/z", &["app/x", "/y", "~/z"]),
        ("cd app && cd sub && cat x", &["app/sub/x"]),
        ("cd app/sub && cd .. && cat x", &["app/x"]),
        ("cd app && cd .. && cat x", &["x"]),
        ("cd .. && cat x", &["../x"]),
        ("cd ../.. && cd a && cat x", &["../../a/x"]),
        ("cd app && cat ../x", &["app/../x"]),
        ("cd /etc && cat x", &["/etc/x"]),
        ("cd /etc/ssh/../.. && cat x", &["/x"]),
        ("cd && cat x", &["~/x"]),
        ("cd ~/.ssh && cat x", &["~/.ssh/x"]),
        ("cd ~ && cd .ssh && cat x", &["~/.ssh/x"]),
        ("cd ~/a && cd ../b && cat x", &["~/b/x"]),
        ("cd -- app && cat < x", &["app/x"]),
        ("pushd app && cat x", &["app/x"]),
        ("command cd app && cat x", &["app/x"]),
        ("eval 'cd app' && cat x", &["x", "app/x"]),
        ("cd app && bash -c 'cat x'", &["app/x"]),
        ("cd app && sudo cat x", &["app/x"]),
        ("env -C app cat x", &["app/x"]),
        ("git -c a=b -C app mv x y", &["app/x"]),
        ("git --git-dir g mv x y", &["x"]),
        ("env --chdir=app cat x /y", &["app/x", "/y"]),
        ("cd a && sudo -D b cat x", &["a/b/x"]),
        ("uv run --directory app cat x", &["app/x"]),
        ("systemd-run --scope --working-directory=/a cat x", &["/a/x"]),
        ("sudo -i cat x /y", &["?x", "/y"]),
        ("su - -c 'cat x /y'", &["?x", "/y"]),
        ("find . -execdir cat x \\;", &["?x"]),
        ("chroot /mnt cat /x", &["…"]),
        ("docker exec -w /a c cat x /y", &["x", "/y"]),
        ("docker run --rm i cat x", &["x"]),
        ("docker run -v .:/w i cat /w/x", &["…"]),
        ("kubectl exec p -- cat x", &["x"]),
        ("git bisect run cat x", &["?x"]),
        ("cd app && cat *.env a*", &["app/*.env", "app/a*"]),
        ("cd app && cat \"$x\" a$x", &["…", "app/a…"]),
        ("(cd app && cat x); cat y", &["app/x", "y"]),
        ("(cd app && cat x) && cat y", &["app/x", "y"]),
        ("{ cd app && cat x; }", &["app/x"]),
        ("cd app && a | cat x", &["app/x"]),
        ("echo $(cd app && cat x) && cat y", &["app/x", "y"]),
        ("cd app & cat x", &["x"]),
        ("a && cd app & cat x", &["x"]),
        ("cd app && true & cat x", &["x"]),
        ("bash -c 'cd app'; cat x", &["x"]),
        ("cd app > log && cat x", &["app/x"]),
        ("for d in a b; do (cd $d && cat x); done; cat y", &["?x", "y"]),
        ("f() { cat x; }; cat y", &["?x", "y"]),
    ];
    for (line, expected) in cases {
        let (mut found, mut expected) = (reads(line), expected.to_vec());
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_change_that_may_fail_leaves_both_folders() {
    let cases: &[(&str, &[&str])] = &[
        ("cd app; cat x", &["x", "app/x"]),
        ("cd app\ncat x", &["x", "app/x"]),
        ("cd app || cat x", &["x"]),
        ("cd app || exit; cat x", &["x", "app/x"]),
        ("cd a || cd b; cat x", &["x", "b/x", "a/x"]),
        ("cd a || cd b && cat x", &["b/x", "a/x"]),
        ("! cd app && cat x", &["app/x", "x"]),
        ("cd app && a; cat x", &["app/x", "x"]),
        ("if a; then cd app; fi; cat x", &["x", "app/x"]),
        ("if cd app; then cat x; fi", &["app/x", "x"]),
        ("case $y in a) cd app;; esac; cat x", &["x", "app/x"]),
        ("a | cd app; cat x", &["x", "app/x"]),
        ("cd a; cd b; cd c; cat x", &["?x"]),
    ];
    for (line, expected) in cases {
        let (mut found, mut expected) = (reads(line), expected.to_vec());
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_folder_that_cannot_be_told_is_not_guessed() {
    for line in [
        "cd $x && cat x",
        "cd \"$(a)\" && cat x",
        "cd - && cat x",
        "cd ~+ && cat x",
        "cd a b && cat x",
        "cd a* && cat x",
        "cd '' && cat x",
        "cd ~/.. && cat x",
        "cd -P a/.. && cat x",
        "set -P; cd a/.. && cat x",
        "popd && cat x",
        "pushd && cat x",
        "pushd +1 && cat x",
        "CDPATH=/etc; cd a && cat x",
        "CDPATH=/etc cd a && cat x",
        "export CDPATH=/etc; cd a && cat x",
        "$c app && cat x",
        "source f; cat x",
        "eval \"$c\"; cat x",
        "while a; do cat x; cd b; done",
        "for d in a; do cd $d; done; cat x",
        "f() { cd app; }; f; cat x",
        "trap 'cd app' DEBUG; cat x",
        "cd /etc && for d in a b; do cat x; cd b; done",
        "PAGER='cat x' git log",
    ] {
        let found = reads(line);
        assert!(
            found.iter().any(|path| path.starts_with('?') && path.ends_with('x')),
            "{line}: {found:?}"
        );
        assert!(!found.contains(&"x".to_owned()), "{line}: {found:?}");
    }
}

#[test]
fn what_is_run_is_compared_with_what_is_written_in_the_same_folder() {
    use tenter_shell::UnknownReason::RunsWritten;
    let runs = |line: &str| analyse(line).unknowns.iter().any(|one| one.reason == RunsWritten);
    assert!(runs("echo a > app/run.sh; cd app && sh run.sh"));
    assert!(runs("cd app && echo a > run.sh && ./run.sh"));
    assert!(runs("cd app && echo a > Makefile && make"));
    assert!(!runs("echo a > run.sh; cd app && ./run.sh"));
}
