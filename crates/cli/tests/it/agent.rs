//! `tenter agent`: what it shows and keeps, whom it asks, and how it ends.

use std::io::Write as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tenter_testkit::{scripted_hook, wait_for_pid, wait_until_dead};

use crate::generated::validate;
use crate::support::Home;
use crate::terminal::{anstream_strip, on_terminal, read_to_end, read_until};

const LOOKS: &str = "[[turn]]\ntext = \"I look.\"\n[[turn.call]]\ntool = \"Bash\"\n\
                     input = { command = \"echo seen > seen; cat seen\" }\n\
                     [[turn]]\ntext = \"I have seen it.\"\n";

fn with_script(script: &str) -> Home {
    let home = Home::new();
    home.write("turns.toml", script);
    home
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn last_words_are_data_and_the_way_there_is_told_on_the_side() {
    let home = with_script(LOOKS);
    let said = home
        .tenter(&["agent", "--script", "turns.toml", "--mode", "bypass", "What is here?"])
        .run();
    insta::assert_snapshot!(said.to_string());
}

#[test]
fn a_machine_without_a_terminal_denies_what_has_to_be_asked() {
    let home = with_script(LOOKS);
    let said = home.tenter(&["agent", "--script", "turns.toml", "--json"]).stdin("go\n").run();
    assert_eq!(said.code, 0, "{said}");
    let schema = home.tenter(&["schema", "stream"]).run().json();
    let stream = lines(&said.stdout);
    for event in &stream {
        let kinds = schema["oneOf"].as_array().unwrap();
        let kind = kinds.iter().find(|kind| kind["title"] == event["type"]).unwrap();
        validate(event, kind, "event");
    }
    let result = stream.iter().find(|event| event["type"] == "tool.result").unwrap();
    assert_eq!((&result["denied"], &result["executed"]), (&true.into(), &false.into()));
    assert!(!home.project().join("seen").exists());
}

#[test]
fn a_damaged_session_is_listed_and_says_where_it_is_broken() {
    let home = with_script(LOOKS);
    let said = home.tenter(&["agent", "--script", "turns.toml", "look"]).run();
    assert_eq!(said.code, 0, "{said}");
    let folder = home.state().join("tenter/agent");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let whole = std::fs::read_to_string(&file).unwrap();
    for (at, hint) in [(0, "nothing of it can be used"), (2, "`head -n 2 ")] {
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[at] = "{\"user\": nonsense}";
        std::fs::write(&file, lines.join("\n")).unwrap();
        let place = format!("{id}.jsonl:{}:", at + 1);
        let listed = home.tenter(&["agent", "list"]).run();
        assert_eq!(listed.code, 0, "{listed}");
        assert!(listed.stdout.contains(&place) && listed.stdout.contains("damaged"), "{listed}");
        let json = home.tenter(&["agent", "list", "--json"]).run().json();
        assert!(json["sessions"][0]["damaged"].as_str().unwrap().contains(&place), "{json}");
        let resumed = home.tenter(&["agent", "resume", &id, "more"]).run();
        assert_eq!(resumed.code, 65, "{resumed}");
        assert!(resumed.stderr.contains(&place) && resumed.stderr.contains(hint), "{resumed}");
    }
}

#[test]
fn a_session_is_kept_listed_and_gone_on_with() {
    let home = with_script(LOOKS);
    let first = ["agent", "--script", "turns.toml", "--mode", "bypass", "--json", "one"];
    let id = lines(&home.tenter(&first).run().stdout)[0]["session_id"].as_str().unwrap().to_owned();

    let more = ["agent", "resume", "last", "two", "--json"];
    let stream = lines(&home.tenter(&more).run().stdout);
    assert_eq!(
        (&stream[0]["session_id"], &stream[0]["resumed"]),
        (&id.clone().into(), &true.into())
    );

    let list = home.tenter(&["agent", "list", "--json"]).run().json();
    assert_eq!(list["sessions"][0]["id"], *id);
    assert_eq!(list["sessions"][0]["turns"], 2);
    assert_eq!(list["sessions"][0]["first_prompt"], "one");
    let shown = home.tenter(&["agent", "list"]).env("TZ", "UTC").run().stdout;
    assert!(shown.starts_with(&id) && shown.contains("2 turns  one"), "{shown}");

    let record = home.state().join("tenter/records").join(&id).with_extension("jsonl");
    assert!(record.exists(), "decisions are recorded");
}

#[test]
fn what_is_not_there_says_so() {
    let home = Home::new();
    for (args, code, part) in [
        (&["agent", "resume", "nowhere", "x"][..], 66, "there is no session `nowhere`"),
        (&["agent", "resume", "last", "x"], 66, "no session of"),
        (&["agent", "--script", "none.toml", "x"], 66, "there is no script `none.toml`"),
        (&["agent", "  "], 64, "the prompt is empty"),
        (&["agent"], 64, "the prompt is empty"),
    ] {
        let said = home.tenter(args).run();
        assert_eq!(said.code, code, "{args:?}: {said}");
        assert!(said.stderr.contains(part) && said.stderr.contains("hint"), "{args:?}: {said}");
    }
    assert!(!home.state().join("tenter/agent").exists(), "nothing is made for what is not there");
    home.write("bad.toml", "[[turn]]\ntxt = 1\n");
    let said = home.tenter(&["agent", "--script", "bad.toml", "x"]).run();
    assert_eq!(said.code, 65);
    assert!(said.stderr.contains("bad.toml") && said.stderr.contains("line 2"), "{said}");
}

#[test]
fn the_end_of_a_turn_is_the_exit_code() {
    let hook = |event: &str, reply: &str| {
        format!("[[hook]]\nname = \"h\"\nevent = \"{event}\"\nreply = {{ {reply} }}\n")
    };
    for (hooks, script, code) in [
        (String::new(), "[[turn]]\ntext = \"a\"\n", 0),
        (String::new(), "[[turn]]\nerror = \"no model\"\n", 1),
        (hook("UserPromptSubmit", "decision = \"deny\", reason = \"no\""), LOOKS, 2),
        (hook("PreToolUse", "halt = true, reason = \"enough\""), LOOKS, 49),
    ] {
        let home = with_script(script);
        home.write_user(&hooks);
        let said = home.tenter(&["agent", "--script", "turns.toml", "go"]).run();
        assert_eq!(said.code, code, "{hooks}: {said}");
    }
}

#[test]
fn a_question_at_the_terminal_is_answered_there() {
    for (answer, ran) in [("y\n", true), ("perhaps\nn\n", false)] {
        let home = with_script(LOOKS);
        let args = ["agent", "--script", "turns.toml", "go"];
        let (mut child, mut ours) = on_terminal(&home, &args);
        let shown = anstream_strip(&read_until(&mut ours, "this session: "));
        assert!(shown.contains("echo seen > seen"), "{shown}");
        ours.write_all(answer.as_bytes()).unwrap();
        let rest = read_to_end(ours);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{shown}{rest}");
        assert_eq!(home.project().join("seen").exists(), ran, "{answer:?}: {rest}");
        assert!(rest.contains("I have seen it."), "{rest}");
    }
}

#[test]
fn always_is_for_the_very_call_in_this_session() {
    let twice = format!("{LOOKS}{LOOKS}");
    let home = with_script(&twice);
    let (mut child, mut ours) = on_terminal(&home, &["agent", "--script", "turns.toml"]);
    read_until(&mut ours, "> ");
    ours.write_all(b"one\n").unwrap();
    read_until(&mut ours, "this session: ");
    ours.write_all(b"always\n").unwrap();
    read_until(&mut ours, "complete");
    ours.write_all(b"two\n").unwrap();
    let second = read_until(&mut ours, "complete");
    assert!(!second.contains("Allow it?"), "{second}");
    ours.write_all(b"/compact\n").unwrap();
    read_until(&mut ours, "the model could not summarise: the script has no more turns");
    ours.write_all(b"/exit\n").unwrap();
    let rest = read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(anstream_strip(&rest).contains("tenter agent resume "), "{rest}");
}

/// A script whose call runs until it is ended, or until a file is there.
fn waits(until: &str) -> String {
    let hook = scripted_hook().display().to_string();
    format!(
        "[[turn]]\n[[turn.call]]\ntool = \"Bash\"\ninput = {{ command = \"{hook} ready pid {until}\" }}\n\
         [[turn]]\ntext = \"done\"\n"
    )
}

#[test]
fn an_interrupt_ends_the_turn_and_what_it_started() {
    let home = with_script(&waits("hang"));
    let args = ["agent", "--script", "turns.toml", "--mode", "bypass", "--json", "go"];
    let child = home
        .command(&args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let tool = wait_for_pid(&home.project().join("pid"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stream = lines(&String::from_utf8(output.stdout).unwrap());
    let end = stream.iter().find(|event| event["type"] == "result").unwrap();
    assert_eq!(end["status"], "cancelled");
    wait_until_dead(tool);
}

#[test]
fn what_is_typed_while_it_works_is_heard() {
    let home = with_script(&waits("wait-file go"));
    let args = ["agent", "--script", "turns.toml", "--mode", "bypass"];
    let (mut child, mut ours) = on_terminal(&home, &args);
    read_until(&mut ours, "> ");
    ours.write_all(b"begin\n").unwrap();
    wait_for_pid(&home.project().join("pid"));
    ours.write_all(b"and mind the gap\n").unwrap();
    read_until(&mut ours, "once this step is done");
    home.write("go", "");
    let shown = anstream_strip(&read_until(&mut ours, "complete"));
    assert!(shown.contains("user    and mind the gap"), "{shown}");
    ours.write_all(b"/quit\n").unwrap();
    read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_guardrail_keeps_a_result_from_the_model_and_says_so() {
    let unsafe_result = "{\\\"safe\\\": false, \\\"reason\\\": \\\"it gives orders\\\"}";
    let script = format!(
        "[[turn]]\n[[turn.call]]\ntool = \"Bash\"\ninput = {{ command = \"echo ORDERS\" }}\n\
         [[turn]]\ntext = \"done\"\n\
         [[turn]]\nagent = \"guardrail\"\ntext = \"{unsafe_result}\"\n"
    );
    let home = with_script(&script);
    home.write("rules.toml", "[[rule]]\nmatch = \"Bash\"\nphases = [\"post\"]\n");
    let args = [
        "agent",
        "--script",
        "turns.toml",
        "--mode",
        "bypass",
        "--guardrail",
        "rules.toml",
        "--json",
        "go",
    ];
    let said = home.tenter(&args).run();
    assert_eq!(said.code, 0, "{said}");
    let stream = lines(&said.stdout);
    let result = stream.iter().find(|event| event["type"] == "tool.result").unwrap();
    assert_eq!(result["content"], "blocked by guardrail: it gives orders");
    let records = home.state().join("tenter/records");
    let record = std::fs::read_dir(records).unwrap().next().unwrap().unwrap();
    assert!(std::fs::read_to_string(record.path()).unwrap().contains("\"guardrail\""));

    home.write("rules.toml", "[[rule]]\nmach = \"Bash\"\n");
    let said = home.tenter(&args).run();
    assert_eq!(said.code, 65);
    assert!(said.stderr.contains("rules.toml") && said.stderr.contains("mach"), "{said}");
}

#[test]
fn what_is_learnt_about_the_user_is_told_in_the_next_session() {
    let note = "[[turn]]\ntext = \"done\"\n\
                [[turn]]\nagent = \"reviewer\"\n[[turn.call]]\ntool = \"remember\"\n\
                input = { text = \"Prefers pnpm.\" }\n";
    let home = with_script(note);
    let args = ["agent", "--script", "turns.toml", "--user-model-review", "No npm, please."];
    let said = home.tenter(&args).run();
    assert_eq!((said.code, said.stderr.contains("warning")), (0, false), "{said}");
    let notes = home.state().join("tenter/agent/user.md");
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "- Prefers pnpm.\n");
}

/// A server of these answers, in a thread of its own; gives what it was asked.
fn model_server(answers: Vec<String>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    use std::io::Read as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let mut all = Vec::new();
        for answer in answers {
            let (mut connection, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            let mut piece = [0; 4096];
            // A request is whole with its head, or with the bracket that closes its body.
            let is_whole = |asked: &[u8]| {
                asked.ends_with(if asked.starts_with(b"GET") { b"\r\n\r\n" } else { &b"}"[..] })
            };
            while !is_whole(&asked) {
                let count = connection.read(&mut piece).unwrap();
                asked.extend_from_slice(&piece[..count]);
            }
            connection.write_all(answer.as_bytes()).unwrap();
            all.push(String::from_utf8(asked).unwrap());
        }
        all
    });
    (url, served)
}

#[test]
fn a_model_server_on_this_machine_answers() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let openai =
        "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n";
    let anthropic = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n\
                     data: {\"type\":\"message_stop\"}\n\n";
    for (provider, answer, variable, key) in [
        ("openai", openai, "OPENAI_API_KEY", "authorization: Bearer k-1"),
        ("anthropic", anthropic, "ANTHROPIC_API_KEY", "x-api-key: k-1"),
    ] {
        let home = Home::new();
        let (url, served) = model_server(vec![format!("{head}{answer}")]);
        let args =
            ["agent", "--provider", provider, "--model", "m", "--base-url", &url, "Say hello."];
        let said = home.tenter(&args).env(variable, "k-1").run();
        assert_eq!((said.code, said.stdout.as_str()), (0, "hello\n"), "{said}");
        let asked = served.join().unwrap().concat();
        assert!(asked.contains(key) && asked.contains("Say hello."), "{asked}");
        assert!(!said.stderr.contains("k-1"));
    }
}

#[test]
fn the_one_model_of_a_server_needs_no_name() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let json = |body: &str| format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let one = json(r#"{"data":[{"id":"only-one"}]}"#);
    let two = json(r#"{"data":[{"id":"this"},{"id":"that"}]}"#);
    let none =
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
    let hello = json(r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}"#);
    for (list, code, part) in [
        (one, 0, "\"model\":\"only-one\""),
        (none, 0, "\"model\":\"default\""),
        (two, 64, "this, that"),
    ] {
        let home = Home::new();
        let (url, served) = model_server(vec![list, hello.clone()]);
        let args = ["agent", "--provider", "openai", "--base-url", &url, "--json", "Say hello."];
        let said = home.tenter(&args).run();
        assert_eq!(said.code, code, "{said}");
        assert!(said.stdout.contains(part) || said.stderr.contains(part), "{said}");
        if code == 0 {
            let asked = served.join().unwrap();
            assert!(asked[0].starts_with("GET /v1/models "), "{}", asked[0]);
            assert!(asked[1].contains(part), "{}", asked[1]);
        }
    }
}

#[test]
fn a_model_that_cannot_be_asked_says_why() {
    let home = Home::new();
    for (args, code, part) in [
        (&["--provider", "openai"][..], 64, "needs to know which model"),
        (&["--provider", "openai", "--model", "m", "--base-url", "host"], 64, "not the address"),
        (&["--model", "m"], 64, "a scripted model has no server"),
        (&["--provider", "openai", "--model", "m", "--script", "s"], 64, "`--script` is not for"),
    ] {
        let said = home.tenter(&[&["agent", "x"], args].concat()).run();
        assert_eq!(said.code, code, "{args:?}: {said}");
        assert!(said.stderr.contains(part), "{args:?}: {said}");
    }
    let unreachable =
        ["agent", "--provider", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9", "x"];
    let said = home.tenter(&unreachable).run();
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stderr.contains("http://127.0.0.1:9/v1/chat/completions cannot"), "{said}");
    assert!(said.stderr.contains("is it running"), "the end is not cut off: {said}");
}

#[test]
fn a_question_after_the_end_of_input_is_answered_no() {
    let home = with_script(LOOKS);
    let hook = scripted_hook().display().to_string();
    home.write_user(&format!(
        "[[hook]]\nname = \"slow\"\nevent = \"PreToolUse\"\ncommand = [\"{hook}\", \"ready\", \"pid\", \"wait-file\", \"go\"]\n"
    ));
    let (mut child, mut ours) = on_terminal(&home, &["agent", "--script", "turns.toml", "hi"]);
    wait_for_pid(&home.project().join("pid"));
    // End of input, and a line that shows that it was read: the terminal echoes neither before.
    ours.write_all(b"seen\n").unwrap();
    read_until(&mut ours, "once this step is done");
    ours.write_all(&[4]).unwrap();
    home.write("go", "");
    let rest = read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(!home.project().join("seen").exists(), "{rest}");
}
