//! `tenter test`: what it finds, what it reports and how it exits. What a case means is shown by the
//! files in `tests/spec`, which run here too.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use tenter_testkit::{wait_for_pid, wait_until_dead};

use crate::support::{Home, Said};

/// One case that passes and one that fails in most ways in which a case can.
const MIXED: &str = r#"
[[hook]]
name    = "no-haskell"
event   = "PreToolUse"
matcher = "Bash"
command = "echo 'No Haskell.' >&2; exit 2"

[[case]]
name   = "exit 2 denies"
event  = { tool_name = "Bash", tool_input = { command = "ghc" } }
expect = { decision = "deny", reason = "No Haskell." }

[[case]]
name   = "fails in many ways"
event  = { tool_name = "Bash", tool_input = { command = "ghc" } }
expect = { decision = "none", resaon = { contains = "x" }, hooks = [{ status = "skipped" }, {}], absent = ["hooks.0.exit_code"] }
after  = [{ command = "echo \"at $PWD\"; exit 3" }, { command = "exit 1", exit = 1 }]

[[case]]
name = "fails in its second step"
[[case.hook]]
name    = "crashes"
event   = "Stop"
command = "echo 'line one' >&2; echo 'line <two>' >&2; exit 1"
[[case.step]]
event  = { hook_event_name = "Stop", session_id = "a" }
expect = { decision = "none" }
[[case.step]]
event  = { hook_event_name = "Stop", session_id = "b" }
expect = { decision = "deny" }
"#;

fn home_with(name: &str, text: &str) -> Home {
    let home = Home::new();
    home.write(name, text);
    home
}

/// Runs one test file that is expected to end like this.
fn test(text: &str, code: i32) -> Said {
    let home = home_with("tests/a.hooktest.toml", text);
    let said = home.tenter(&["test", "--json"]).run();
    assert_eq!(said.code, code, "{said}");
    said
}

/// What a report says, without its times.
fn timeless(said: &Said) -> String {
    let seconds = Regex::new(r#"in [0-9.]+ s|time="[0-9.]+"|[0-9.]+ ms"#).unwrap();
    seconds.replace_all(&said.to_string(), "[TIME]").into_owned()
}

#[test]
fn the_conformance_suite_passes() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/spec");
    let home = Home::new();
    let said = home.tenter(&["test", spec.to_str().unwrap()]).run();
    assert_eq!(said.code, 0, "{said}");
    let summary = said.stdout.lines().last().unwrap();
    let passed: usize = summary.split(' ').next().unwrap().parse().unwrap();
    assert!(passed >= 100, "{said}");
    // A suite that warns teaches its readers to look away.
    assert_eq!(said.stderr, "");
}

#[test]
fn a_failing_report_says_where_what_was_expected_and_what_came() {
    let home = home_with("tests/mixed.hooktest.toml", MIXED);
    let said = home.tenter(&["test"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!("failing_report", timeless(&said));
}

#[test]
fn the_json_report_has_the_same_things_for_machines() {
    let home = home_with("tests/mixed.hooktest.toml", MIXED);
    let said = home.tenter(&["test", "--json"]).run();
    assert_eq!(said.code, 1);
    let json = said.json();
    assert_eq!((json["passed"].as_u64(), json["failed"].as_u64()), (Some(1), Some(2)));
    assert_snapshot!("json_report", timeless(&said));
}

#[test]
fn a_junit_report_is_written_beside_the_other() {
    let home = home_with("tests/mixed.hooktest.toml", MIXED);
    home.write("tests/wrong.hooktest.toml", "case = 1\n");
    let said = home.tenter(&["test", "--junit", "report.xml"]).run();
    assert_eq!(said.code, 65, "a file that is not valid goes before a case that failed");
    let xml = std::fs::read_to_string(home.project().join("report.xml")).unwrap();
    assert!(!xml.contains("<two>"), "{xml}");
    let seconds = Regex::new(r#"time="[0-9.]+"|[0-9.]+ ms"#).unwrap();
    assert_snapshot!("junit_report", seconds.replace_all(&xml, "[TIME]"));
    let said = home.tenter(&["test", "--junit", "no/such/folder.xml"]).run();
    assert_eq!((said.code, &*said.stdout), (65, ""), "{said}");
}

#[test]
fn a_file_that_is_not_valid_exits_65_and_the_others_run() {
    let home = home_with("tests/wrong.hooktest.toml", "[[case]]\nname = \"a\"\nevnt = {}\n");
    let good = "[[case]]\nname = \"good\"\nevent = { tool_name = \"Bash\" }\nexpect = { decision = \"none\" }\n";
    home.write("tests/good.hooktest.toml", good);
    home.write("tests/more/config.hooktest.toml", format!("config = \"gone.toml\"\n{good}"));
    home.write("tests/more/broken.hooktest.toml", format!("config = \"broken.toml\"\n{good}"));
    home.write("tests/more/broken.toml", "[[hook]\n");
    let said = home.tenter(&["test"]).run();
    assert_eq!(said.code, 65);
    assert_snapshot!("invalid_files", timeless(&said));
    let json = home.tenter(&["test", "--json"]).run();
    assert_eq!(json.code, 65);
    let json = json.json();
    let codes: Vec<_> =
        json["invalid"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["test.config", "config.syntax", "test.config", "test.unknown-key"]);
    assert_eq!(json["passed"], 1);
}

#[test]
fn a_config_in_the_host_s_format_is_used_and_its_hooks_come_first() {
    let home = home_with(
        "tests/hooks.toml",
        "[[hook]]\nname = \"of-the-config\"\nevent = \"PreToolUse\"\ncommand = [\"./guard.sh\"]\n",
    );
    home.write_script("tests/guard.sh", "#!/bin/sh\necho config >&2\nexit 2\n");
    home.write_script("tests/beside.sh", "#!/bin/sh\necho beside >&2\nexit 2\n");
    home.write(
        "tests/a.hooktest.toml",
        r##"
config = "hooks.toml"
# Nothing of it counts beside a config.
files = { ".tenter/hooks.toml" = "[[hook]]\nevent = \"PreToolUse\"\nreply = { context = \"c\" }\n" }
trust_project = true

[[hook]]
name    = "of-the-file"
event   = "PreToolUse"
command = ["./beside.sh"]

[[case]]
name   = "config, then file, then case"
hook   = [{ name = "of-the-case", event = "PreToolUse", reply = { decision = "deny", reason = "case" } }]
event  = { tool_name = "Bash" }
expect = { decision = "deny", reason = "config\nbeside\ncase", hooks = [{ name = "of-the-config" }, { name = "of-the-file" }, { name = "of-the-case" }] }

[[case]]
name   = "a program of the case's project goes before one beside the test file"
files  = { "beside.sh" = { content = "#!/bin/sh\necho project >&2\nexit 2\n", mode = "0755" } }
event  = { tool_name = "Bash" }
expect = { reason = "config\nproject" }
"##,
    );
    let said = home.tenter(&["test"]).run();
    assert_eq!(said.code, 0, "{said}");
}

/// A value in TOML that expects exactly this value, but for what differs from run to run.
fn in_toml(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "{ null = true }".into(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(in_toml).collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) => {
            let differs = ["duration_ms", "stdin", "source"];
            let given = object.iter().filter(|(key, _)| !differs.contains(&key.as_str()));
            let pairs = given
                .map(|(key, value)| format!("{} = {}", Value::from(key.as_str()), in_toml(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        // JSON's texts are texts of TOML as well, as far as they stand here.
        other => other.to_string(),
    }
}

#[test]
fn what_fire_gives_is_what_a_case_is_compared_with() {
    let hooks = r#"
[[hook]]
name = "denies"
event = "PreToolUse"
command = "echo 'two\nlines' >&2; exit 2"
[[hook]]
name = "rewrites"
event = "PreToolUse"
reply = { patch = { timeout = 1.5 }, context = "c", message = "m" }
[[hook]]
name = "crashes"
event = "PreToolUse"
on_failure = "ask"
command = "exit 3"
[[hook]]
name = "behind"
event = "PreToolUse"
detach = true
command = "echo done"
[[hook]]
name = "other"
event = "PreToolUse"
matcher = "Read"
reply = { decision = "deny" }
"#;
    let home = home_with("hooks.toml", hooks);
    for tool in ["Bash", "Write"] {
        let event = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{{"command":"ls"}}}}"#
        );
        let fired =
            home.tenter(&["fire", "--config", "hooks.toml", "--json", "--io"]).stdin(&event).run();
        let expect = in_toml(&fired.json());
        let text = format!(
            "config = \"hooks.toml\"\n[[case]]\nname = \"a\"\nevent_json = '{event}'\nexpect = {expect}\n"
        );
        home.write("a.hooktest.toml", &text);
        let said = home.tenter(&["test", "a.hooktest.toml"]).run();
        assert_eq!(said.code, 0, "{said}\n{text}");
        // It is all of it: what is different in one place is found.
        home.write("a.hooktest.toml", text.replace("two", "three"));
        assert_eq!(home.tenter(&["test", "a.hooktest.toml"]).run().code, 1);
    }
}

#[test]
fn paths_are_files_or_folders_and_none_found_is_an_error() {
    let good = "[[case]]\nname = \"good\"\nevent = { tool_name = \"Bash\" }\nexpect = {}\n";
    let home = home_with(".tenter/b.hooktest.toml", good);
    home.write("tests/x/y/a.hooktest.toml", good);
    home.write("tests/other.toml", "this is no test file");
    home.write("target/c.hooktest.toml", good);
    home.write("elsewhere.toml", good);
    let files = |args: &[&str]| {
        let said = home.tenter(&[&["test", "--json"], args].concat()).run();
        let json = said.json();
        let files = json["cases"].as_array().unwrap().iter();
        files.map(|case| case["file"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(files(&[]), [".tenter/b.hooktest.toml", "tests/x/y/a.hooktest.toml"]);
    assert_eq!(files(&["."]), [".tenter/b.hooktest.toml", "tests/x/y/a.hooktest.toml"]);
    assert_eq!(files(&["tests", "tests/x"]), ["tests/x/y/a.hooktest.toml"]);
    assert_eq!(files(&["elsewhere.toml"]), ["elsewhere.toml"]);

    let gone = home.tenter(&["test", "gone"]).run();
    let none = home.tenter(&["test", "target/debug/..", "tests/x/y/../../x"]).run();
    std::fs::create_dir(home.project().join("empty")).unwrap();
    let empty = home.tenter(&["test", "empty"]).run();
    let nothing = Home::new();
    let nothing = nothing.tenter(&["test"]).run();
    assert_eq!((gone.code, none.code, empty.code, nothing.code), (66, 66, 66, 66), "{none}");
    assert_snapshot!("no_test_files", format!("{gone}\n{empty}\n{nothing}"));
}

#[test]
fn a_filter_is_a_text_or_a_regex_over_file_and_name() {
    let home = home_with("tests/mixed.hooktest.toml", MIXED);
    let names = |filter: &str| {
        let said = home.tenter(&["test", "--json", "--filter", filter]).run();
        let json = said.json();
        let cases = json["cases"].as_array().unwrap().iter();
        cases.map(|case| case["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("exit 2"), ["exit 2 denies"]);
    assert_eq!(names("mixed.hooktest.toml: fails").len(), 2);
    assert_eq!(names("/^tests/mixed.*(second|denies)/").len(), 2);
    let none = home.tenter(&["test", "--filter", "no such case"]).run();
    let wrong = home.tenter(&["test", "--filter", "/(/"]).run();
    assert_eq!((none.code, wrong.code), (64, 64));
    assert_snapshot!("filters", format!("{none}\n{wrong}"));
    assert_eq!(home.tenter(&["test", "--jobs", "0"]).run().code, 64);
}

#[test]
fn cases_run_side_by_side_and_one_after_the_other_with_one_job() {
    let home = Home::new();
    let meet = home.root().join("meet");
    std::fs::create_dir(&meet).unwrap();
    let case = |name: &str, other: &str| {
        let meet = meet.display();
        format!(
            "[[case]]\nname = \"{name}\"\nevent = {{ tool_name = \"Bash\" }}\nexpect = {{ decision = \"none\" }}\n\
             [[case.hook]]\nevent = \"PreToolUse\"\ntimeout = \"TIMEOUT\"\ncommand = \"touch {meet}/{name}; until test -e {meet}/{other}; do sleep 0.01; done\"\n"
        )
    };
    let text = format!("{}{}", case("a", "b"), case("b", "a"));
    home.write("tests/a.hooktest.toml", text.replace("TIMEOUT", "60s"));
    assert_eq!(home.tenter(&["test"]).run().code, 0);
    std::fs::remove_file(meet.join("a")).unwrap();
    std::fs::remove_file(meet.join("b")).unwrap();
    home.write("tests/a.hooktest.toml", text.replace("TIMEOUT", "2s"));
    let said = home.tenter(&["test", "--json", "--jobs", "1"]).run();
    // The second finds what the first has left.
    assert_eq!(
        (said.json()["passed"].as_u64(), said.json()["failed"].as_u64()),
        (Some(1), Some(1))
    );
}

#[test]
fn a_case_sees_nothing_of_the_real_environment_but_path() {
    let text = r#"
env = { OF_FILE = "1", BOTH = "file" }
[[case]]
name  = "its own world"
env   = { OF_CASE = "1", BOTH = "case" }
hook  = [{ event = "PreToolUse", command = "env | cut -d= -f1 | sort > names" }]
event = { tool_name = "Bash" }
[[case.after]]
command = "test \"$BOTH$OF_FILE$OF_CASE${OF_REALITY-none}\" = case11none"
[[case.after]]
command = "test \"$PATH\" = \"/usr/local/bin:/usr/bin:/bin\""
[[case.after]]
command = "case $HOME/ in $PWD/*|/root/*) exit 1;; esac; test -d \"$HOME\" -a -d \"$XDG_STATE_HOME\" -a -d \"$XDG_RUNTIME_DIR\""
[[case.after]]
command = "for v in \"$XDG_CONFIG_HOME\" \"$XDG_STATE_HOME\" \"$XDG_DATA_HOME\" \"$XDG_CACHE_HOME\"; do case $v in \"$HOME\"/*) ;; *) exit 1;; esac; done"
[[case.after]]
command = "test -z \"$(grep -v '^\\(BOTH\\|OF_.*\\|HOME\\|PATH\\|PWD\\|XDG_.*\\|TENTER_.*\\|SHLVL\\|_\\|OLDPWD\\)$' names)\""
[[case.after]]
command = "test -d .git"
"#;
    let home = home_with("tests/a.hooktest.toml", text);
    let said = home.tenter(&["test"]).env("OF_REALITY", "1").env("TENTER_CONFIG", "/x").run();
    assert_eq!(said.code, 0, "{said}");
}

#[test]
fn the_real_home_and_project_have_no_say() {
    let home = Home::with_user_hooks(
        "[[hook]]\nevent = \"PreToolUse\"\nreply = { decision = \"deny\", reason = \"real\" }\n",
    );
    home.write(
        "tests/a.hooktest.toml",
        "[[case]]\nname = \"a\"\nevent = { tool_name = \"Bash\" }\nexpect = { decision = \"none\", hooks = [] }\n",
    );
    let said = home.tenter(&["test"]).run();
    assert_eq!(said.code, 0, "{said}");
    // Nothing was written either.
    assert!(!home.state().join("tenter").exists());
    assert!(!home.project().join(".tenter").exists());
}

#[test]
fn time_that_is_too_long_fails_a_case_and_a_step() {
    let text = r#"
[[hook]]
event   = "PreToolUse"
command = "sleep 0.3"
[[case]]
name   = "case"
event  = { tool_name = "Bash" }
max_ms = 100
[[case]]
name = "step"
step = [{ event = { tool_name = "Bash" }, max_ms = 100 }]
[[case]]
name   = "in time"
event  = { tool_name = "Bash" }
max_ms = 60000
"#;
    let json = test(text, 1).json();
    let kinds: Vec<_> =
        json["cases"].as_array().unwrap().iter().map(|case| &case["problems"][0]["kind"]).collect();
    assert_eq!(
        kinds,
        ["too-slow", "too-slow", "null"]
            .map(|kind| match kind {
                "null" => serde_json::Value::Null,
                kind => kind.into(),
            })
            .iter()
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_case_that_cannot_be_made_fails_alone() {
    let text = r#"
[[case]]
name   = "a file in the way of a folder"
files  = { "a" = "", "a/b" = "" }
event  = { tool_name = "Bash" }
expect = {}
[[case]]
name   = "the other"
event  = { tool_name = "Bash" }
expect = { decision = "none" }
"#;
    let json = test(text, 1).json();
    assert_eq!((json["passed"].as_u64(), json["failed"].as_u64()), (Some(1), Some(1)));
    let problem = &json["cases"][0]["problems"][0];
    assert_eq!(problem["kind"], "setup");
    assert!(problem["actual"].as_str().unwrap().contains("cannot make `project/a"), "{problem}");
}

#[test]
fn what_a_case_leaves_behind_is_ended_when_it_is_over() {
    let home = Home::new();
    let pid = home.root().join("pid");
    let text = format!(
        r#"
[[case]]
name  = "leaves a process"
hook  = [{{ event = "PreToolUse", command = "setsid sleep 300 >/dev/null 2>&1 & echo $! > {pid}" }}]
event = {{ tool_name = "Bash" }}
after = [{{ command = "kill -0 $(cat {pid})" }}]
"#,
        pid = pid.display()
    );
    home.write("tests/a.hooktest.toml", text);
    let said = home.tenter(&["test"]).run();
    assert_eq!(said.code, 0, "{said}");
    wait_until_dead(wait_for_pid(&pid));
}

#[test]
fn an_interrupt_ends_what_runs_and_reports_what_is_done() {
    let home = Home::new();
    let pid = home.root().join("pid");
    let text = format!(
        r#"
[[case]]
name   = "quick"
event  = {{ tool_name = "Bash" }}
expect = {{ decision = "none" }}
[[case]]
name   = "slow"
hook   = [{{ event = "PreToolUse", timeout = "10m", command = "echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 300" }}]
event  = {{ tool_name = "Bash" }}
expect = {{ decision = "none" }}
[[case]]
name   = "never"
event  = {{ tool_name = "Bash" }}
expect = {{ decision = "none" }}
"#,
        pid = pid.display()
    );
    home.write("tests/a.hooktest.toml", text);
    let mut child = home
        .command(&["test", "--jobs", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let hook = wait_for_pid(&pid);
    let begun = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(30));
    wait_until_dead(hook);
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("1 passed, 0 failed, 2 not run to the end"), "{stdout}");
}
