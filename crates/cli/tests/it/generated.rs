//! What is generated: schemas, completions, manual pages.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::Home;

const SCHEMAS: [&str; 7] =
    ["hooks-file", "test-file", "fire", "hook-input", "hook-output", "events", "stream"];

#[test]
fn every_schema_is_an_object_with_a_title_and_the_same_twice() {
    let home = Home::new();
    for name in SCHEMAS {
        let said = home.tenter(&["schema", name]).run();
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{name}");
        let schema = said.json();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert!(schema["title"].is_string() && schema["type"] == "object", "{name}");
        assert_eq!(said.stdout, home.tenter(&["schema", name]).run().stdout, "{name}");
    }
    let default = home.tenter(&["schema"]).run().stdout;
    assert_eq!(default, home.tenter(&["schema", "hooks-file"]).run().stdout);
}

#[test]
fn the_schemas_are_what_they_were() {
    let home = Home::new();
    for name in ["fire", "hook-input", "hook-output", "events", "stream"] {
        insta::assert_snapshot!(
            format!("schema_{name}"),
            home.tenter(&["schema", name]).run().stdout
        );
    }
}

/// A small validator for what the schemas here use: it is slow and says where.
pub(crate) fn validate(value: &Value, schema: &Value, at: &str) {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{at}: type {other}"),
    };
    match &schema["type"] {
        Value::String(name) => assert!(is(name), "{at}: {value} is no {name}"),
        Value::Array(names) => {
            assert!(names.iter().any(|name| is(name.as_str().unwrap())), "{at}: {value}");
        }
        _ => {}
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value} is none of {words:?}");
    }
    if let Some(only) = schema.get("const") {
        assert_eq!(value, only, "{at}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: {name} is missing");
    }
    if let (Some(properties), Some(members)) = (schema["properties"].as_object(), value.as_object())
    {
        for (key, member) in members {
            // Whatever the program writes is written down.
            let property =
                properties.get(key).unwrap_or_else(|| panic!("{at}: {key} has no schema"));
            validate(member, property, &format!("{at}.{key}"));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        validate(item, &schema["items"], &format!("{at}[{index}]"));
    }
}

#[test]
fn what_fire_writes_is_what_its_schema_says() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "fails"
event = "PreToolUse"
command = "echo x; exit 3"
on_failure = "allow"

[[hook]]
name = "late"
event = "PreToolUse"
command = "true"
detach = true

[[hook]]
name = "rewrites"
event = "PreToolUse"
reply = { patch = { command = "b" }, context = "c", message = "m" }

[[hook]]
name = "guard"
event = "PreToolUse"
command = ["echo", "plain"]

[[hook]]
name = "skipped"
event = "PreToolUse"
matcher = "Edit"
command = "true"
"#,
    );
    let schema = home.tenter(&["schema", "fire"]).run().json();
    for io in [&["--io"][..], &[]] {
        let args = [&["fire", "--tool", "Bash", "--input", r#"{"command":"a"}"#, "--json"], io];
        let outcome = home.tenter(&args.concat()).run();
        validate(&outcome.json(), &schema, "outcome");
        let statuses: BTreeSet<_> = outcome.json()["hooks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hook| hook["status"].to_string())
            .collect();
        assert_eq!(statuses.len(), 3, "{outcome}");
    }
}

#[test]
fn what_a_hook_reads_is_what_the_schema_says() {
    let home = Home::with_user_hooks(
        "[[hook]]\nevent = [\"PostToolUse\", \"Stop\"]\ncommand = \"true\"\n",
    );
    let schema = home.tenter(&["schema", "hook-input"]).run().json();
    let read = |args: &[&str], stdin: &str| {
        let said = home.tenter(&[args, &["--json", "--io"]].concat()).stdin(stdin).run().json();
        let text = said["hooks"][0]["stdin"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let inputs = [
        read(
            &[
                "fire",
                "PostToolUse",
                "--tool",
                "Read",
                "--input",
                r#"{"file_path":"a"}"#,
                "--response",
                "x",
            ],
            "",
        ),
        read(&["fire"], r#"{"hook_event_name":"Stop","agent_id":"a","agent_type":"t"}"#),
    ];
    for input in inputs {
        let name = &input["hook_event_name"];
        let of_kind = schema["allOf"].as_array().unwrap().iter();
        let mut of_kind =
            of_kind.filter(|one| one["if"]["properties"]["hook_event_name"]["const"] == *name);
        let mut whole = schema.clone();
        let more = of_kind.next().unwrap()["then"]["properties"].as_object().unwrap().clone();
        whole["properties"].as_object_mut().unwrap().extend(more);
        validate(&input, &whole, "input");
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = home.tenter(&["completions", shell]).run();
        assert_eq!(said.code, 0, "{shell}");
        assert!(
            said.stdout.contains("explain") && said.stdout.contains("trust-project"),
            "{shell}"
        );
    }
    let page = home.tenter(&["man"]).run();
    assert!(
        page.stdout.contains(".TH tenter 1") && page.stdout.contains("tenter\\-fire(1)"),
        "{page}"
    );
    let page = home.tenter(&["man", "fire"]).run();
    assert!(
        page.stdout.contains(".TH tenter-fire 1") && page.stdout.contains("\\-\\-event\\-file"),
        "{page}"
    );
}

#[test]
fn what_is_generated_needs_no_current_directory() {
    let home = Home::new();
    let gone = home.root().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", "rmdir \"$PWD\"; \"$0\" schema fire && \"$0\" list"])
        .arg(home.command(&[]).get_program())
        .current_dir(&gone)
        .env_clear()
        .envs(home.env())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(65), "{stderr}");
    assert!(stderr.contains("the current directory cannot be told"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("tenter fire --json"));
}
