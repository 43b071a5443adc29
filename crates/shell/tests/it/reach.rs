//! How commands are reached: wrappers, nested shells, and what else starts programs.

use tenter_shell::{Link, NoteKind, Reach, UnknownReason, analyse};

/// Whether a command with these words is found, and by which last step.
fn reach(line: &str, words: &str) -> Option<Vec<Reach>> {
    analyse(line)
        .commands
        .into_iter()
        .find(|command| {
            let found: Vec<String> = command.argv.iter().map(ToString::to_string).collect();
            found.join(" ") == words
        })
        .map(|command| command.via)
}

#[test]
fn wrappers_are_unwrapped() {
    for line in [
        "sudo rm x",
        "sudo -u root -- rm x",
        "sudo -nE A=1 rm x",
        "sudo --user=root rm x",
        "doas rm x",
        "env rm x",
        "env -i A=1 rm x",
        "env -u B rm x",
        "env -S 'rm x'",
        "env - rm x",
        "timeout 5 rm x",
        "timeout -s KILL -k 1 5s rm x",
        "timeout --signal=KILL 5 rm x",
        "nice rm x",
        "nice -n 5 rm x",
        "nice -5 rm x",
        "nohup rm x",
        "setsid -w rm x",
        "stdbuf -oL -e 0 rm x",
        "time rm x",
        "command rm x",
        "command -p rm x",
        "builtin rm x",
        "exec rm x",
        "exec -a name rm x",
        "busybox rm x",
        "ionice -c 3 rm x",
        "flock f rm x",
        "flock -n f -c 'rm x'",
        "watch -n 1 rm x",
        "script -qc 'rm x' f",
        "chroot d rm x",
        "strace -f -o f rm x",
        "systemd-run --user rm x",
        "sudo env nice timeout 3 rm x",
        "npx rm x",
        "uv run rm x",
        "docker exec -it c rm x",
        "docker run --rm i rm x",
        "docker compose exec -T s rm x",
        "kubectl exec p -- rm x",
        "xvfb-run -a rm x",
        "su -c 'rm x'",
        "su - user -c 'rm x'",
        "sh -c 'rm x'",
        "bash -ec 'rm x'",
        "bash -c -e 'rm x'",
        "bash -o pipefail -c 'rm x'",
        "bash --norc -c 'rm x' a b",
        "eval rm x",
        "eval 'rm x'",
        "eval r\"\"m 'x'",
        "eval -- rm x",
        "trap 'rm x' EXIT",
        "ssh host rm x",
        "ssh -p 22 user@host 'rm x'",
        "git -c alias.z='!rm x' z",
        "git -c core.pager='rm x' log",
        "git submodule foreach 'rm x'",
        "git rebase -x 'rm x' main",
        "git bisect run rm x",
        "rsync -e 'rm x' a b:",
        "rsync -avze 'rm x' a b:",
        "git rebase -ix 'rm x' main",
        "ssh -vo 'ProxyCommand=rm x' host",
        "ssh -o 'ProxyCommand=rm x' host",
        "ssh -oProxyCommand='rm x' host",
        "GIT_SSH_COMMAND='rm x' git fetch",
        "PAGER='rm x' man y",
        "export EDITOR='rm x'; git commit",
        "bash <<< 'rm x'",
        "bash <<'E'\nrm x\nE",
        "sh -s <<'E'\nrm x\nE",
        "sudo bash <<'E'\nrm x\nE",
        "bash -c 'eval \"rm x\"'",
        "parallel 'rm x; echo' ::: a",
        "find . -exec rm x \\;",
        "find . -ok rm x ';'",
        "nix-shell -p y --run 'rm x'",
        "coproc rm x",
        "f() { rm x; }; f",
        "jobs -x rm x",
        "sudo -i rm x",
        "ld.so rm x",
        "/usr/bin/env rm x",
        "\"sudo\" rm x",
        "su\\do rm x",
        "prog 3< <(rm x)",
        "runuser -u n -- rm x",
        "hyperfine 'rm x'",
    ] {
        assert!(reach(line, "rm x").is_some(), "{line}: {:#?}", analyse(line));
    }
}

#[test]
fn commands_behind_another_program_s_own_words_are_found() {
    for line in [
        "kubectl debug p --image=i -- rm x",
        "oc rsh p rm x",
        "heroku run -a app rm x",
        "gcloud compute ssh h -- rm x",
        "docker container exec c rm x",
        "docker container run --rm i rm x",
        "linux64 rm x",
        "cmake -E rm x",
        "cmake -E env A=1 rm x",
        "cmake -E chdir d rm x",
        "cargo watch -- rm x",
        "fly ssh console -C 'rm x'",
        "az vm run-command invoke --scripts 'rm x'",
    ] {
        assert!(reach(line, "rm x").is_some(), "{line}: {:?}", analyse(line));
    }
}

#[test]
fn arguments_that_are_read_are_holes() {
    assert!(reach("a | xargs rm -r", "rm -r …").is_some());
    assert!(reach("a | xargs -I{} rm {} b{}", "rm … b…").is_some());
    assert!(reach("a | xargs -0 -n1 -P 4 rm", "rm …").is_some());
    assert!(reach("find . -name x -exec rm -r {} +", "rm -r ./…").is_some());
    assert!(reach("find a -name x -exec rm {} \\;", "rm a/…").is_some());
    assert!(reach("find a -name '*.o' -exec rm {} \\;", "rm a/…/*.o").is_some());
    assert!(reach("find a.o -name '*.o' -exec rm {} \\;", "rm a.o/…").is_some());
    assert!(reach("find a ! -name '*.o' -exec rm {} \\;", "rm a/…").is_some());
    assert!(reach("find a b -exec rm {} \\;", "rm …").is_some());
    assert!(reach("find / -exec rm {} \\;", "rm …").is_some());
    assert!(reach("find . -execdir mv {} d/{}.bak \\;", "mv … d/….bak").is_some());
    assert!(reach("fd -e x -x rm {}", "rm … …").is_some());
    let analysis = analyse("a | xargs -I{} sh -c 'rm {}'");
    assert_eq!(analysis.unknowns[0].reason, UnknownReason::DynamicCode);
}

#[test]
fn the_way_is_told_outermost_first() {
    assert_eq!(
        reach("a && sudo sh -c 'b | c'", "c").unwrap(),
        [
            Reach::List(Link::And),
            Reach::Wrapper("sudo".into()),
            Reach::Shell("sh".into()),
            Reach::Pipeline { position: 1, of: 2 },
        ]
    );
    assert_eq!(reach("(a)", "a").unwrap(), [Reach::Subshell]);
    assert_eq!(reach("a & b", "a").unwrap(), [Reach::Background]);
    assert_eq!(reach("x $(a)", "a").unwrap(), [Reach::Substitution]);
    assert_eq!(reach("x <(a)", "a").unwrap(), [Reach::ProcessSubstitution]);
    assert_eq!(reach("f() { a; }", "a").unwrap(), [Reach::Function("f".into()), Reach::Group]);
    assert_eq!(reach("if a; then b; fi", "b").unwrap(), [Reach::Branch]);
    assert_eq!(reach("while a; do b; done", "a").unwrap(), [Reach::Condition]);
    assert_eq!(reach("ssh h a", "a").unwrap(), [Reach::Remote("h".into())]);
    assert_eq!(reach("bash <<< a", "a").unwrap(), [Reach::HereText("bash".into())]);
    assert_eq!(reach("PAGER=a man b", "a").unwrap(), [Reach::Variable("PAGER".into())]);
}

#[test]
fn a_wrapper_that_is_not_understood_hides_nothing() {
    for line in [
        "sudo --unknown rm x",
        "timeout $t rm x",
        "env \"$x\" rm y",
        "nice --what rm x",
        "xargs --weird rm",
        "xargs $opts rm",
        "docker --odd c exec c rm x",
        "git $x push",
        "find . -exec rm x",
        "ssh $opts host rm x",
        "su --what",
        "bash -c",
        "flock --odd f rm",
        "parallel ::: 'rm x'",
        "sudo -s",
        "env -S \"rm 'x y'\"",
        "command $x",
    ] {
        let analysis = analyse(line);
        let known = line == "bash -c";
        assert!(known || !analysis.unknowns.is_empty(), "{line}: {analysis:#?}");
    }
}

#[test]
fn rarer_wrappers_and_options_are_unwrapped_too() {
    for line in [
        "perf stat -e cycles rm x",
        "perf record -g -- rm x",
        "cpulimit -l 50 -- rm x",
        "choom -n 500 -- rm x",
        "ip netns exec n rm x",
        "logsave log rm x",
        "asdf exec rm x",
        "sg users -c 'rm x'",
        "vagrant ssh -c 'rm x'",
        "gcloud compute ssh h --command='rm x'",
        "jj util exec -- rm x",
        "ag --pager 'rm x' y",
        "bat --pager='rm x' y",
        "svn ci --editor-cmd 'rm x'",
        "fzf --preview 'rm x'",
        "rpm -qa --pipe 'rm x'",
        "systemd-cat rm x",
        "systemd-inhibit --what=sleep rm x",
        "run0 -u root rm x",
        "uv tool run rm x",
        "echo 'rm x' | sh",
        "printf 'rm x' | bash -s",
        "printf '%s\\n' 'rm x' | sudo sh",
        "cat <<'E' | sh\nrm x\nE",
        "echo rm x | cat | sh",
    ] {
        assert!(reach(line, "rm x").is_some(), "{line}: {:#?}", analyse(line));
    }
}

#[test]
fn another_language_is_no_shell_text() {
    for line in [
        "ed f <<< '!rm x'",
        "ex -s f <<E\n!rm x\nE",
        "gdb <<< 'shell rm x'",
        "lldb -o 'platform shell rm x'",
        "sqlite3 db '.shell rm x'",
        "sqlite3 db <<< '.system rm x'",
        "psql -c \"copy t from program 'rm x'\"",
        "psql <<< '\\! rm x'",
        "mysql -e '\\! rm x'",
        "mysql <<< 'system rm x'",
        "dc -e '!rm x'",
        "dc <<< '!rm x'",
        "m4 <<< 'esyscmd(rm x)'",
        "m4 -D'a=syscmd(rm x)'",
        "less '+!rm x' f",
        "more '+!rm x' f",
    ] {
        let analysis = analyse(line);
        let reasons: Vec<_> = analysis.unknowns.iter().map(|one| one.reason).collect();
        assert_eq!(reasons, [UnknownReason::OtherLanguage], "{line}");
        assert!(reach(line, "rm x").is_none(), "{line}");
    }
    for line in [
        "bc <<< '1 + 1'",
        "dc -e '1 1 + p'",
        "sqlite3 db 'select 1'",
        "sqlite3 db <<< 'select 1;'",
        "psql -c 'select 1'",
        "mysql -e 'select 1'",
        "less f",
    ] {
        assert!(analyse(line).unknowns.is_empty(), "{line}");
    }
}

#[test]
fn an_option_or_setting_that_holds_a_command_is_an_unknown() {
    for line in [
        "apt-get -o APT::Update::Pre-Invoke::='rm x' update",
        "gh alias set z '!rm x'",
        "gh extension exec z",
        "hg --config alias.z='!rm x' z",
        "fzf --bind 'enter:execute(rm x)'",
        "rpm --eval '%(rm x)'",
        "rpm -E '%(rm x)'",
        "npm pkg set scripts.x='rm x'",
        "npm config set script-shell ./x",
        "coreutils --coreutils-prog=rm x",
        "pdsh -w h rm x",
        "strace -o '|rm x' ls",
        "please rm x",
        "npx tsx -e 'rm()'",
        "echo cm0geA== | base64 -d | sh",
        "echo -e 'rm x' | sh",
        "echo 'rm\\x20x' | sh",
        "printf '%b' 'rm x' | sh",
        "echo \"$x\" | sh",
        "echo 'rm x' | while a; do sh; done",
        "echo() { a; }; echo 'rm x' | sh",
    ] {
        assert!(!analyse(line).unknowns.is_empty(), "{line}: {:#?}", analyse(line));
    }
}

#[test]
fn looking_is_not_running() {
    for line in [
        "command -v rm",
        "bash -n x.sh",
        "env",
        "sudo -l",
        "sudo --version",
        "trap - INT",
        "xargs --help",
    ] {
        let analysis = analyse(line);
        assert_eq!(analysis.commands.len(), 1, "{line}: {analysis:#?}");
        assert!(analysis.unknowns.is_empty(), "{line}: {analysis:#?}");
    }
}

#[test]
fn a_posix_shell_reads_double_parentheses_as_subshells() {
    assert!(reach("sh -c '((rm x))'", "rm x").is_some());
    assert!(reach("bash -c '((rm x))'", "rm x").is_none());
}

#[test]
fn what_changes_later_lookups_is_noted() {
    let notes = |line: &str| -> Vec<(NoteKind, String)> {
        analyse(line).notes.into_iter().map(|note| (note.kind, note.name)).collect()
    };
    assert_eq!(notes("PATH=./bin:$PATH ls"), [(NoteKind::LookupVariable, "PATH".to_owned())]);
    assert_eq!(
        notes("export PATH=\"$HOME/bin:$PATH\""),
        [(NoteKind::LookupVariable, "PATH".to_owned())]
    );
    assert_eq!(notes("env LD_PRELOAD=x ls"), [(NoteKind::LookupVariable, "LD_PRELOAD".to_owned())]);
    for line in ["ls {PATH}>&1", "exec {PATH}< f", "coproc PATH { a; }"] {
        assert_eq!(notes(line), [(NoteKind::LookupVariable, "PATH".to_owned())], "{line}");
    }
    assert_eq!(notes("ls() { rm x; }"), [(NoteKind::Function, "ls".to_owned())]);
    for (line, name) in [
        (":(){ :|:& };:", ":"),
        ("b() { b | b; }; b", "b"),
        ("function b { b & b & }; b", "b"),
        ("b() { (b & b); }", "b"),
    ] {
        let expected =
            [NoteKind::Function, NoteKind::Multiplies].map(|kind| (kind, name.to_owned()));
        assert_eq!(notes(line), expected, "{line}");
    }
    for line in ["f() { f; }", "f() { f; f; }", "f() { f | g; }", "f() { g | g & }; f | f"] {
        assert_eq!(notes(line), [(NoteKind::Function, "f".to_owned())], "{line}");
    }
}

#[test]
fn a_script_that_another_command_wrote_is_not_trusted() {
    let reasons = |line: &str| -> Vec<UnknownReason> {
        analyse(line).unknowns.into_iter().map(|unknown| unknown.reason).collect()
    };
    for line in [
        "echo x > a.sh; bash a.sh",
        "echo x > ./a.sh && sh a.sh",
        "tee a.sh <<< x; . a.sh",
        "cp b a.sh; ./a.sh",
        "curl -o a u; chmod +x a; ./a",
        "echo x > \"$f\"; ./a.sh",
        "wget u/a.py; python3 a.py",
        "bash a.sh; echo x >> a.sh",
        "echo x > a; bash < a",
    ] {
        assert!(reasons(line).contains(&UnknownReason::RunsWritten), "{line}: {:?}", reasons(line));
    }
    for line in
        ["chmod +x a.sh && ./a.sh", "git pull && ./a.sh", "echo x > b; ./a.sh", "rm b; /bin/ls"]
    {
        assert!(reasons(line).is_empty(), "{line}: {:?}", reasons(line));
    }
}
