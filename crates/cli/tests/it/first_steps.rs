//! What a newcomer does first: `init`, `check`, `trust`, `fire`.

use insta::assert_snapshot;

use crate::support::Home;

#[test]
fn the_first_file_is_sound_and_its_hooks_do_what_it_says() {
    let home = Home::new();
    assert_snapshot!("init", home.tenter(&["init"]).run());
    let checked = home.tenter(&["check", "--strict"]).run();
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{checked}");
    home.trust();
    let secret =
        home.tenter(&["fire", "--tool", "Read", "--input", r#"{"file_path":".env"}"#]).run();
    assert_eq!(secret.code, 2, "{secret}");
    let other =
        home.tenter(&["fire", "--tool", "Read", "--input", r#"{"file_path":"README"}"#]).run();
    assert_eq!(other.code, 0, "{other}");
    let start = home.tenter(&["fire", "SessionStart", "--input", r#"{"source":"startup"}"#]).run();
    assert_eq!(start.code, 0, "{start}");
    let git =
        home.tenter(&["fire", "--tool", "Edit", "--input", r#"{"file_path":".git/config"}"#]).run();
    assert_eq!(git.code, 2, "{git}");
}

/// What stands behind a mark in the first file works when the mark is taken away.
#[test]
fn the_examples_in_the_first_file_are_sound_too() {
    let home = Home::new();
    home.tenter(&["init"]).run();
    let file = home.project().join(".tenter/hooks.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let is_example = |line: &str| line.starts_with("# [[hook]]") || line.contains(" = ");
    let lines = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if is_example(line) => rest,
        _ => line,
    });
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    home.write_script("guards/no-force-push.sh", "#!/bin/sh\nexit 2\n");
    let checked = home.tenter(&["check", "--strict"]).run();
    assert_eq!(checked.code, 0, "{checked}");
    let list = home.tenter(&["list", "--json"]).run().json();
    assert_eq!(list["hooks"].as_array().unwrap().len(), 3);
    assert_eq!(list["rules"].as_array().unwrap().len(), 2, "an allow rule needs trust");
}

#[test]
fn a_file_that_is_there_is_kept_unless_it_is_forced() {
    let home = Home::with_hooks("# mine\n");
    let said = home.tenter(&["init"]).run();
    assert_eq!(said.code, 64);
    assert_snapshot!("init_again", said);
    let file = home.project().join(".tenter/hooks.toml");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\n");
    assert_eq!(home.tenter(&["init", "--force"]).run().code, 0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("no-secrets"));
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let home = Home::new();
    home.write(".tenter", "a file where the folder should be");
    let said = home.tenter(&["init", "--force"]).run();
    assert_eq!(said.code, 65);
    assert_snapshot!("init_unwritable", said);
}
