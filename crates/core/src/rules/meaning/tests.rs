//! Spellings of one thing, and things that only look like it.

use tenter_shell::analyse;

use super::*;

fn stands(pattern: &str, line: &str) -> Truth {
    let meaning = Meaning::of(pattern).unwrap();
    let analysis = analyse(line);
    assert!(analysis.unknowns.is_empty(), "{line}");
    analysis.commands.iter().map(|command| meaning.matches(&command.argv)).max().unwrap()
}

#[test]
fn options_count_in_any_spelling_and_place() {
    for (pattern, lines) in [
        (
            "rm -rf *",
            &[
                "rm -rf x",
                "rm -fr x",
                "rm -Rf x",
                "rm -rfv x",
                "rm -f -r x",
                "rm x -rf",
                "rm -r --force x y",
                "rm --recursive --force -- x",
                "rm --rec --fo x",
                "rm -rf",
            ][..],
        ),
        ("rm -rf /", &["rm -rf / x", "rm x / -fr", "rm -rf //", "rm -rf /./", "rm -rf /usr/.."]),
        ("rm -rf ~", &["rm -rf ~/", "rm -Rf $HOME", "rm -r -f \"${HOME}/\"", "rm x ~ -rf"]),
        ("rm -rf /*", &["rm -rf x /usr", "rm -fr ~", "rm -fr /*"]),
        ("rm /etc/*", &["rm -f /etc/passwd", "rm x /etc/../etc/x"]),
        (
            "git push --force *",
            &[
                "git push -f",
                "git push -uf origin main",
                "git push origin main --force",
                "git push origin +main",
                "git push origin +HEAD:main",
                "git push --mirror x",
                "git push --forc",
                "git push -o ci.skip --force",
            ],
        ),
        ("git push --delete *", &["git push origin :main", "git push -d origin main"]),
        (
            "git reset --hard *",
            &["git reset HEAD~1 --hard", "git reset -q --har", "git reset --hard"],
        ),
        (
            "git branch -D *",
            &["git branch --delete --force x", "git branch x -df", "git branch -D x"],
        ),
        ("git commit --no-verify *", &["git commit -m x -n", "git commit -anm x"]),
        ("chmod -R 777 *", &["chmod 0777 -R x", "chmod a+rwx x -R", "chmod --recursive ugo=rwx x"]),
        (
            "curl -X POST *",
            &["curl -s https://x -XPOST", "curl --request POST x", "curl x -X POST"],
        ),
        ("kill -9 *", &["kill -KILL 1", "kill -s 9 1", "kill -SIGKILL -1", "kill --signal=KILL 1"]),
        ("git checkout .", &["git checkout -q .", "git checkout -q -- ."]),
        ("git push origin main", &["git push -u origin main"]),
        ("gh api -X DELETE *", &["gh api repos/a/b --method DELETE", "gh api -XDELETE x"]),
        ("npm install -g *", &["npm install x -g", "npm install --global x"]),
        ("npm publish --tag *", &["npm --tag publish next", "npm publish next --tag"]),
        ("docker run -it *", &["docker run -t -i x", "docker run --interactive --tty x"]),
    ] {
        for line in lines {
            assert_eq!(stands(pattern, line), Truth::Yes, "{pattern}: {line}");
        }
    }
}

#[test]
fn other_options_and_operands_do_not_match() {
    for (pattern, lines) in [
        ("rm -rf *", &["rm -r x", "rm x", "rm -- -rf", "rmdir -rf x", "echo rm -rf x"][..]),
        ("rm -rf /", &["rm -rf ./", "rm -rf x"]),
        ("rm -rf ~", &["rm -rf ~/x", "rm -rf '~'/x"]),
        ("rm /etc/*", &["rm etc/x", "rm x/etc/x"]),
        (
            "git push --force *",
            &[
                "git push origin main",
                "git push --force-with-lease",
                "git push -o --force",
                "git push origin main:+x",
                "git -C x push --force",
                "git stash push -f",
            ],
        ),
        ("git reset --hard *", &["git reset --soft x", "git reset hard", "git reset -- --hard"]),
        ("git branch -D *", &["git branch -d x", "git branch -f x"]),
        ("git commit --no-verify *", &["git commit -m -n", "git commit -m '--no-verify'"]),
        ("chmod -R 777 *", &["chmod 777 x", "chmod -R 755 x", "chmod -R a+rx x"]),
        ("curl -X POST *", &["curl x", "curl -X GET POST", "curl -d 'X POST' x"]),
        ("kill -9 *", &["kill 9", "kill -15 9", "kill -1 9"]),
        ("git checkout .", &["git checkout main", "git checkout -b .x"]),
        ("git push origin main", &["git push origin other", "git push"]),
        ("find * -delete", &["find . -depth -empty -ls -type d"]),
    ] {
        for line in lines {
            assert_eq!(stands(pattern, line), Truth::No, "{pattern}: {line}");
        }
    }
}

#[test]
fn what_is_decided_at_run_time_may_be_an_option_or_an_operand() {
    for (pattern, line) in [
        ("rm -rf *", "rm \"$x\" y"),
        ("rm -rf *", "rm -r$x y"),
        ("rm -rf /", "rm -rf $x"),
        ("rm -rf /", "rm -rf /*"),
        ("git push --force *", "git push origin $x"),
        ("git push --force *", "git push \"$x\" origin"),
        ("curl -X POST *", "curl -X \"$x\" y"),
    ] {
        assert_eq!(stands(pattern, line), Truth::Maybe, "{pattern}: {line}");
    }
    assert_eq!(stands("rm -rf *", "rm -rf $x"), Truth::Yes);
    assert_eq!(stands("rm -rf /", "rm -rf \"/$x\""), Truth::Maybe);
    assert_eq!(stands("git push --force *", "git push -- \"$x\""), Truth::No);
}

#[test]
fn a_pattern_without_options_has_no_meaning_beside_its_words() {
    for pattern in
        ["git push *", "git push", "rm *", "ls x", "* -rf", "npm publish", "git push -f*"]
    {
        assert!(Meaning::of(pattern).is_none(), "{pattern}");
    }
}
