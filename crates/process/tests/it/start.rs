//! What a process is started with, and the ways in which it cannot be started.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tenter_process::{Command, Exit, RUN_VARIABLE, Stage, StartCause};

use crate::support::{
    Folder, block_signal, ended, environment, hook, in_its_own_process, set_signals, shell,
    start_error, text, zombies,
};

#[test]
fn argv_is_executed_without_a_shell() {
    let mut command = hook("");
    command.args = vec!["out".into(), "$HOME; `id` *".into()];
    let ended = ended(&command);
    assert_eq!(text(&ended.stdout), "$HOME; `id` *");
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!((ended.stopped, ended.held, ended.left.len()), (None, false, 0));
    assert!(ended.start <= ended.duration);
}

#[test]
fn a_bare_name_is_looked_up_in_the_path_of_its_own_environment() {
    let folder = Folder::new();
    let script = folder.path("only-here");
    fs::write(&script, "#!/bin/sh\necho found\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("/nowhere:{}:/bin", folder.path("").display());
    let command = Command::new("only-here", "/", environment().with("PATH", path));
    assert_eq!(text(&ended(&command).stdout), "found\n");
    let elsewhere = Command::new("only-here", "/", environment());
    assert_eq!(start_error(&elsewhere).cause, StartCause::ProgramMissing);
}

#[test]
fn a_pipeline_of_the_shell_runs() {
    let ended = ended(&shell("printf 'b\\na\\n' | sort | tr a-z A-Z"));
    assert_eq!(text(&ended.stdout), "A\nB\n");
}

#[test]
fn the_environment_is_what_was_given_and_a_marker_of_the_run() {
    let given = environment().with("A", "1").with(RUN_VARIABLE, "inherited");
    let command = Command::new("/usr/bin/env", "/", given);
    let first = ended(&command);
    let mut lines: Vec<_> = text(&first.stdout).lines().collect();
    lines.sort_unstable();
    let [a, path, marker] = lines[..] else { panic!("{lines:?}") };
    assert_eq!((a, path), ("A=1", "PATH=/usr/bin:/bin"));
    let (name, value) = marker.split_once('=').unwrap();
    assert_eq!(name, RUN_VARIABLE);
    assert_ne!(value, "inherited");
    assert!(!text(&ended(&command).stdout).contains(value), "each run has a marker of its own");
}

#[test]
fn it_starts_in_its_directory() {
    let folder = Folder::new();
    let command = Command { cwd: folder.path(""), ..hook("cwd") };
    let real = folder.path("").canonicalize().unwrap();
    assert_eq!(text(&ended(&command).stdout).trim_end(), real.to_str().unwrap());
}

#[test]
fn it_leads_its_own_session_and_group() {
    let ended = ended(&hook("ids"));
    let ids: Vec<_> = text(&ended.stdout).split_whitespace().collect();
    let [pid, group, session] = ids[..] else { panic!("{ids:?}") };
    assert_eq!((pid, pid), (group, session));
}

#[test]
fn it_has_no_descriptors_but_its_own_and_the_lifeline() {
    // What a host opened without closing it on exec must not leak either.
    let host = fs::File::open("/dev/null").unwrap();
    let leaky = rustix::io::dup(&host).unwrap();
    assert_eq!(text(&ended(&hook("fds")).stdout), "0 1 2 60\n");
    drop(leaky);
}

#[test]
fn a_missing_program_is_told_from_a_missing_directory() {
    let error = start_error(&Command::new("/nowhere/program", "/", environment()));
    assert_eq!((error.stage, error.cause.clone()), (Stage::Exec, StartCause::ProgramMissing));
    assert_eq!(
        error.to_string(),
        "cannot start `/nowhere/program` in `/`: no such file; check the path, or create the file"
    );
    let error = start_error(&Command { cwd: "/nowhere".into(), ..hook("cwd") });
    assert_eq!((error.stage, error.cause), (Stage::Directory, StartCause::CwdMissing));
    let error = start_error(&Command { cwd: "/etc/passwd".into(), ..hook("cwd") });
    assert_eq!((error.stage, error.cause), (Stage::Directory, StartCause::CwdNotADirectory));
}

#[test]
fn a_failed_start_leaves_no_zombie() {
    in_its_own_process("start::a_failed_start_leaves_no_zombie", || {
        start_error(&Command::new("/nowhere/program", "/", environment()));
        start_error(&Command { cwd: "/nowhere".into(), ..hook("cwd") });
        assert_eq!(zombies(), []);
    });
}

#[test]
fn a_directory_is_not_a_program() {
    let error = start_error(&Command::new("/usr", "/", environment()));
    assert_eq!((error.cause, error.errno), (StartCause::NotAFile, libc::EACCES));
}

#[test]
fn an_empty_name_is_not_a_program() {
    let error = start_error(&Command::new("", "/", environment()));
    assert_eq!(error.cause, StartCause::ProgramMissing);
}

/// Writes a file, executable or not, and gives the error of starting it.
fn error_of_file(content: &[u8], mode: u32) -> tenter_process::StartError {
    let folder = Folder::new();
    let path = folder.path("program");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    start_error(&Command::new(path, "/", environment()))
}

#[test]
fn a_file_without_execute_permission_is_named_as_such() {
    let error = error_of_file(b"#!/bin/sh\n", 0o644);
    assert_eq!(error.cause, StartCause::NotExecutable);
    assert!(error.to_string().contains("chmod +x"), "{error}");
}

#[test]
fn a_missing_interpreter_is_named() {
    let error = error_of_file(b"#! /opt/none/python3 -u\nprint()\n", 0o755);
    assert_eq!(error.cause, StartCause::InterpreterMissing { name: "/opt/none/python3".into() });
    assert!(error.to_string().contains("`/opt/none/python3`"), "{error}");
}

#[test]
fn a_missing_loader_of_a_binary_is_named() {
    let mut binary = fs::read(tenter_testkit::scripted_hook()).unwrap();
    let loader = b"/lib64/ld-linux-x86-64.so.2";
    let Some(at) = binary.windows(loader.len()).position(|window| window == loader) else {
        // Another architecture has another loader; the shebang test covers the rest.
        return;
    };
    binary[at + 1..at + 6].copy_from_slice(b"gone0");
    let error = error_of_file(&binary, 0o755);
    let name = "/gone0/ld-linux-x86-64.so.2".to_owned();
    assert_eq!(error.cause, StartCause::InterpreterMissing { name });
}

#[test]
fn a_carriage_return_after_the_interpreter_is_told() {
    let error = error_of_file(b"#!/bin/sh\r\necho\r\n", 0o755);
    assert_eq!(error.cause, StartCause::CarriageReturn { name: "/bin/sh".into() });
}

#[test]
fn a_text_without_a_shebang_is_not_handed_to_a_shell() {
    let error = error_of_file(b"echo hello\n", 0o755);
    assert_eq!((error.cause, error.errno), (StartCause::NoExecFormat, libc::ENOEXEC));
}

#[test]
fn an_argument_that_is_too_long_for_the_system_is_an_error() {
    let mut command = hook("out");
    command.args.push("x".repeat(200 * 1024).into());
    let error = start_error(&command);
    assert_eq!((error.stage, error.cause), (Stage::Exec, StartCause::ArgumentsTooLong));
}

#[test]
fn a_nul_is_an_error_that_names_its_place() {
    let what = |command: &Command| match start_error(command).cause {
        StartCause::NulInArgument { what } => what,
        other => panic!("{other:?}"),
    };
    let mut command = hook("out");
    command.args.push("a\0b".into());
    assert_eq!(what(&command), "argument 2");
    let env = environment().with("TOKEN", "a\0b");
    assert_eq!(what(&Command { env, ..hook("cwd") }), "the variable `TOKEN`");
    assert_eq!(what(&Command { cwd: "/a\0b".into(), ..hook("cwd") }), "the directory");
    assert_eq!(what(&Command { program: "/a\0b".into(), ..hook("cwd") }), "the program");
    assert_eq!(what(&Command { program: "a\0b".into(), ..hook("cwd") }), "the program");
}

#[test]
fn a_variable_without_a_usable_name_is_an_error() {
    let env = environment().with("A=B", "1");
    let error = start_error(&Command { env, ..hook("cwd") });
    assert_eq!(error.cause, StartCause::VariableName { name: "A=B".into() });
}

#[test]
fn a_script_that_is_still_open_for_writing_is_waited_for() {
    let folder = Folder::new();
    let path = folder.path("script");
    fs::write(&path, "#!/bin/sh\necho written\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let open = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let command = Command::new(&path, "/", environment());
    assert_eq!(start_error(&command).cause, StartCause::Busy);
    let closing = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(10));
        drop(open);
    });
    assert_eq!(text(&ended(&command).stdout), "written\n");
    closing.join().unwrap();
}

#[test]
fn nothing_is_started_that_was_cancelled_before() {
    let folder = Folder::new();
    let command = hook(&format!("ready {}", folder.word("ready")));
    let cancel = tokio_util::sync::CancellationToken::new();
    cancel.cancel();
    let ended =
        crate::support::current_thread().block_on(tenter_process::run(&command, &cancel)).unwrap();
    assert_eq!(ended.stopped, Some(tenter_process::Stopped::Cancelled));
    assert_eq!(ended.exit, Exit::Lost);
    assert!(!folder.path("ready").exists());
}

#[test]
fn a_child_of_a_nohup_host_ignores_hangups_but_not_what_hooks_need() {
    in_its_own_process(
        "start::a_child_of_a_nohup_host_ignores_hangups_but_not_what_hooks_need",
        || {
            set_signals(
                &[libc::SIGHUP, libc::SIGINT, libc::SIGPIPE, libc::SIGTERM, libc::SIGCHLD],
                libc::SIG_IGN,
            );
            block_signal(libc::SIGTERM);
            let ended = ended(&shell("exec grep -E '^Sig(Blk|Ign)' /proc/self/status"));
            let expected = (1_u64 << (libc::SIGHUP - 1)) | (1 << (libc::SIGINT - 1));
            let mask = |name: &str| {
                let line = text(&ended.stdout).lines().find(|line| line.starts_with(name)).unwrap();
                u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap()
            };
            assert_eq!((mask("SigIgn"), mask("SigBlk")), (expected, 0));
        },
    );
}
