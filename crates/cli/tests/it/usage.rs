//! Wrong uses of the command line, and its help.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::support::Home;

/// Everything that the parser refuses: always 64, never the exit code of a denial.
#[test]
fn a_wrong_use_says_so_and_exits_64() {
    let home = Home::new();
    let wrong: [&[&str]; 11] = [
        &["frobnicate"],
        &["chek"],
        &["fire", "--frob"],
        &["fire", "Stop", "Extra"],
        &["fire", "--tool"],
        &["fire", "--tool", "Bash", "--event-file", "e.json"],
        &["fire", "Stop", "--response", "x"],
        &["fire", "Stop", "--profile", "nobody"],
        &["check", "--format", "xml"],
        &["completions", "tcsh"],
        &["schema", "everything"],
    ];
    let mut shown = String::new();
    for args in wrong {
        let said = home.tenter(args).run();
        assert_eq!((said.code, said.stdout.as_str()), (64, ""), "{args:?}");
        writeln!(shown, "$ tenter {}\n{said}", args.join(" ")).unwrap();
    }
    assert_snapshot!(shown);
}

#[test]
fn without_a_command_the_help_goes_to_stderr() {
    let said = Home::new().tenter(&[]).run();
    assert_eq!((said.code, said.stdout.as_str()), (64, ""));
    assert_snapshot!(said);
}

#[test]
fn help_is_an_answer() {
    let home = Home::new();
    let said = home.tenter(&["--help"]).run();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let said = home.tenter(&["--version"]).run();
    assert_eq!((said.code, said.redacted_stdout().as_str()), (0, "tenter [VERSION]\n"));
}

/// Every command has examples, and its help is what it was.
#[test]
fn every_command_has_examples() {
    let home = Home::new();
    let mut shown = String::new();
    let commands = [
        "init",
        "check",
        "list",
        "explain",
        "fire",
        "demo",
        "agent",
        "test",
        "trust",
        "untrust",
        "schema",
        "completions",
        "man",
    ];
    let top = home.tenter(&["--help"]).run().stdout;
    for command in commands {
        assert!(top.contains(&format!("\n  {command} ")), "{command}");
        let said = home.tenter(&[command, "--help"]).run();
        assert_eq!(said.code, 0, "{command}");
        assert!(said.stdout.contains("Examples:\n"), "{command}");
        writeln!(shown, "$ tenter {command} --help\n{}", said.stdout).unwrap();
    }
    assert_snapshot!(shown);
}

#[test]
fn a_manual_page_for_an_unknown_command_suggests_one() {
    let said = Home::new().tenter(&["man", "fier"]).run();
    assert_eq!(said.code, 64);
    assert_snapshot!(said, @r"
    exit 64
    --- stderr
    error: there is no command `fier`
    hint: did you mean `fire`?
    ");
}
