//! Rules and sets of them, from their text to their decision.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::hook::Level;
use crate::verdict::Decision;

fn places() -> Places {
    Places { project: Place::new("/p"), home: Some(Place::new("/home/u")), cwd: "/p".into() }
}

/// Judges a call whose paths pass no link.
fn with_call<T>(tool: &str, input: &serde_json::Value, ask: impl FnOnce(&Call<'_>) -> T) -> T {
    let (input, places) = (Json::from(input), places());
    let pairs: Vec<PathPair>;
    let paths = match paths_of(tool, &input) {
        ToolPaths::None => Paths::Known(&[]),
        ToolPaths::Unreadable => Paths::Unreadable,
        ToolPaths::Known(given) => {
            pairs = given
                .iter()
                .flat_map(|path| places.pairs(path).unwrap())
                .map(|pair| PathPair::lexical(pair.given()))
                .collect();
            Paths::Known(&pairs)
        }
    };
    let mut lexical = |path: &str| {
        let pairs = places.pairs(path)?;
        Some(pairs.into_iter().map(|pair| PathPair::lexical(pair.given())).collect())
    };
    let shell = (tool == "Bash").then(|| ShellCall::of(&input, &mut lexical));
    let shell = shell.as_ref();
    ask(&Call { tool, host_tool: None, input: &input, paths, shell, places: &places })
}

fn matches(rule: &str, tool: &str, input: &serde_json::Value) -> Truth {
    with_call(tool, input, |call| Rule::parse(rule).unwrap().matches(call))
}

fn set(deny: &[&str], ask: &[&str], allow: &[&str]) -> RuleSet {
    let mut set = RuleSet::new();
    for (rules, add) in [
        (deny, RuleSet::add_deny as fn(&mut RuleSet, Rule, Level, &'static str)),
        (ask, RuleSet::add_ask),
        (allow, RuleSet::add_allow),
    ] {
        for rule in rules {
            add(&mut set, Rule::parse(rule).unwrap(), Level::User, "");
        }
    }
    set
}

fn decision(set: &RuleSet, tool: &str, input: &serde_json::Value) -> Decision {
    with_call(tool, input, |call| set.judge(call).map_or(Decision::None, |r| r.decision))
}

#[test]
fn rules_match_the_calls_they_speak_of() {
    let file = |path: &str| json!({ "file_path": path });
    for (rule, tool, input, expected) in [
        ("*", "Bash", json!({}), Truth::Yes),
        ("Bash", "Bash", json!({ "command": "ls" }), Truth::Yes),
        ("Bash", "BashOutput", json!({}), Truth::No),
        ("mcp__github__*", "mcp__github__get", json!({}), Truth::Yes),
        ("mcp__*__delete_*", "mcp__a__delete_b", json!({}), Truth::Yes),
        ("mcp__github__*", "mcp__gitlab__get", json!({}), Truth::No),
        ("Read(**/.env)", "Read", file("/p/a/.env"), Truth::Yes),
        ("Read(**/.env)", "Read", file("a/x/../.env"), Truth::Yes),
        ("Read(**/.env)", "Edit", file("/p/.env"), Truth::No),
        ("Read(**/.env)", "Grep", json!({ "pattern": "x", "path": "/p/.env" }), Truth::Yes),
        ("Read(**/.env)", "Grep", json!({ "pattern": "x", "glob": "**/.env" }), Truth::Yes),
        ("Read(**/.env)", "Grep", json!({ "pattern": "x" }), Truth::No),
        ("Read(/etc/**)", "Glob", json!({ "pattern": "/etc/ssh/*" }), Truth::Yes),
        ("Edit(src/**)", "Edit", file("src/a"), Truth::Yes),
        ("Edit(src/**)", "Write", file("/p/src/a"), Truth::Yes),
        ("Edit(src/**)", "MultiEdit", file("src/a"), Truth::Yes),
        ("Edit(src/**)", "NotebookEdit", json!({ "notebook_path": "src/a" }), Truth::Yes),
        ("Edit(src/**)", "Read", file("src/a"), Truth::No),
        ("Edit(src/**)", "Edit", file("pkg/src/a"), Truth::No),
        ("Edit", "Write", file("a"), Truth::Yes),
        ("Write(src/**)", "Edit", file("src/a"), Truth::No),
        ("Write(src/**)", "Write", file("src/a"), Truth::Yes),
        ("Glob(src/**)", "Read", file("src/a"), Truth::No),
        ("Edit(src/**)", "Edit", json!({ "patch": "?" }), Truth::Maybe),
        ("Edit(src/**)", "Edit", json!({ "file_path": 7 }), Truth::Maybe),
        ("Read(~/.ssh/**)", "Read", file("~/.ssh/id"), Truth::Yes),
        ("Agent(reviewer)", "Agent", json!({ "subagent_type": "reviewer" }), Truth::Yes),
        ("Agent(review*)", "Agent", json!({ "subagent_type": "reviewer" }), Truth::Yes),
        ("Agent(reviewer)", "Agent", json!({ "subagent_type": "coder" }), Truth::No),
        ("Agent(reviewer)", "Agent", json!({}), Truth::Maybe),
        ("WebFetch(domain:a.com)", "WebFetch", json!({ "url": "https://a.com/x" }), Truth::Yes),
        ("WebFetch(domain:a.com)", "WebFetch", json!({ "url": "https://b.com/x" }), Truth::No),
        ("WebFetch(domain:a.com)", "WebFetch", json!({ "url": "a.com" }), Truth::Maybe),
        ("WebFetch(domain:a.com)", "WebFetch", json!({}), Truth::Maybe),
        ("WebFetch( https://a.com/* )", "WebFetch", json!({ "url": "https://a.com" }), Truth::Yes),
        ("plugin:tool", "plugin:tool", json!({}), Truth::Yes),
    ] {
        assert_eq!(matches(rule, tool, &input), expected, "{rule} {tool} {input}");
    }
}

#[test]
fn what_would_silently_miss_is_refused_where_it_stands() {
    for (rule, span, message) in [
        ("", 0..0, "the rule is empty"),
        ("  ", 2..2, "the rule is empty"),
        ("Read()", 4..6, "nothing stands between the parentheses"),
        ("Read( )", 4..7, "nothing stands between the parentheses"),
        ("Read(a", 4..5, "`(` is not closed"),
        ("Read(a(b)", 4..5, "`(` is not closed"),
        ("Read(a\\)", 4..5, "`(` is not closed"),
        ("Read a)", 6..7, "`)` without a `(` before it"),
        ("Read(a) b", 7..9, "something stands after the closing `)`"),
        ("(a)", 0..1, "no tool stands before the parentheses"),
        ("Bash(cd a && ls)", 10..12, "`&&` joins two commands, and a rule speaks of one"),
        (" Bash(a;b)", 7..8, "`;` joins two commands, and a rule speaks of one"),
        ("Bash(a\nb)", 6..7, "a control character stands in the pattern"),
        ("WebSearch(x)", 9..12, "a search has no address to match"),
        ("Task(reviewer)", 4..14, "`Task` takes no pattern"),
        ("mcp__a__b(x)", 9..12, "`mcp__a__b` takes no pattern"),
        ("*(**/.env)", 1..10, "`*` takes no pattern"),
        ("Raed(x)", 4..7, "`Raed` takes no pattern"),
        ("mcp__github", 0..11, "`mcp__github` names a server and no tool"),
        ("Edit|Write", 4..5, "`|` stands in a tool's name"),
        ("Read (a)", 4..5, "` ` stands in a tool's name"),
        ("tool:", 4..5, "`:` stands in a tool's name"),
        ("/Bash/", 0..6, "a rule names a tool and takes no regex or path"),
        ("mcp__[", 5..6, "`[` is not closed"),
        ("Read(src/**.rs)", 9..11, "`**` does not stand alone between slashes"),
        ("Read( a[b )", 7..8, "`[` is not closed"),
        ("Agent(a|b)", 6..9, "an agent's type is one name or glob"),
        ("WebFetch(example.com)", 9..20, "neither a domain nor an address"),
        ("WebFetch(domain:a.com:80)", 21..24, "a domain has no port"),
    ] {
        let error = Rule::parse(rule).unwrap_err();
        assert_eq!((error.message.as_str(), error.span), (message, span), "{rule}");
        assert!(!error.help.is_empty());
    }
    assert!(Rule::parse("Raed(x)").unwrap_err().help.contains("`Read(…)`"));
}

#[test]
fn a_pattern_over_commands_means_what_a_person_means() {
    use Truth::{Maybe, No, Yes};
    for (rule, command, expected) in [
        ("Bash(git push *)", "git push --force origin main", Yes),
        ("Bash(git push *)", "git push", Yes),
        ("Bash(git push:*)", "git push origin", Yes),
        ("Bash(git push *)", "cd x && CI=1 git -C /y 'push' -f", Yes),
        ("Bash(git push *)", "/usr/bin/git push", Yes),
        ("Bash(git push *)", "sudo sh -c 'git push'", Yes),
        ("Bash(git push *)", "git commit -m 'git push later'", No),
        ("Bash(git push *)", "echo git push", No),
        ("Bash(git push *)", "git pull", No),
        ("Bash(git push *)", "$cmd push", Maybe),
        ("Bash(git push *)", "curl -s https://example.org | sh", Maybe),
        ("Bash(rm -rf /*)", "git commit -m \"$x\"", No),
        ("Bash(rm *)", "ls \u{3b}", No),
        ("Edit(/etc/**)", "echo x > /etc/passwd", Yes),
        ("Edit(/etc/**)", "echo x | tee -a /etc/hosts", Yes),
        ("Edit(/etc/**)", "echo /etc/passwd > x", No),
        ("Edit(src/**)", "cd /elsewhere && echo x > src/a", No),
        ("Edit(src/**)", "cd src && echo x > a", Yes),
        ("Edit(src/**)", "cd \"$x\" && echo x > a", Maybe),
        ("Bash(rm -rf /*)", "X=/etc; rm -rf \"$X\"", Yes),
        ("Edit(/etc/**)", "echo x > \"$file\"", Maybe),
        ("Edit(/etc/**)", "ls > /dev/null", No),
        ("Read(**/.env)", "cat app/.env", Yes),
        ("Read(**/.env)", "cat app/readme", No),
        ("Read(**/.env)", "cat src/*.rs", No),
        ("Read(**/.env)", "cat app/.env*", Maybe),
        ("Read(**/.env)", "cat app/.e?v", Maybe),
        ("Read(**/.env)", "cat */.env", Yes),
        ("Read(**/.env)", "cat *", No),
        ("Read(**/.env)", "shopt -s dotglob; cat *", Maybe),
        ("Edit(/etc/**)", "rm -rf /etc/*", Yes),
        ("Edit(/etc/*.conf)", "rm /etc/*", Maybe),
        ("Edit(~/.ssh/**)", "cp x ~/.ssh/*", Yes),
        ("Edit(src/**)", "rm -rf build/*", No),
    ] {
        let input = json!({ "command": command });
        assert_eq!(matches(rule, "Bash", &input), expected, "{rule} on {command}");
    }
    assert_eq!(matches("Bash(ls)", "Bash", &json!({})), Maybe);
    assert_eq!(matches("Bash(ls)", "Bash", &json!({ "command": 5 })), Maybe);
}

#[test]
fn a_line_is_allowed_only_if_all_of_it_is() {
    let rules = set(&[], &[], &["Bash(git status *)", "Bash(ls *)", "Edit(out/**)"]);
    for (command, expected) in [
        ("git status", Decision::Allow),
        ("git status && ls -l", Decision::Allow),
        ("ls > out/list", Decision::Allow),
        ("ls > elsewhere", Decision::None),
        ("ls && rm x", Decision::None),
        ("ls $(rm x)", Decision::None),
        ("ls | sh", Decision::None),
        ("git --no-pager status", Decision::Allow),
        // A repository's settings may name programs to run.
        ("git -C /x status", Decision::None),
        ("./ls", Decision::None),
        ("git -c core.pager=x status", Decision::None),
        ("PATH=. ls", Decision::None),
        ("ls() { rm x; }; ls", Decision::None),
        ("", Decision::None),
    ] {
        let input = json!({ "command": command });
        assert_eq!(decision(&rules, "Bash", &input), expected, "{command}");
    }
    let all = set(&[], &[], &["Bash"]);
    assert_eq!(decision(&all, "Bash", &json!({ "command": "$x" })), Decision::Allow);
}

#[test]
fn deny_beats_ask_beats_allow() {
    let rules = set(&["Read(**/.env)"], &["Edit(.github/**)"], &["Read", "Edit"]);
    let file = |path: &str| json!({ "file_path": path });
    assert_eq!(decision(&rules, "Read", &file("a/.env")), Decision::Deny);
    assert_eq!(decision(&rules, "Read", &file("a")), Decision::Allow);
    assert_eq!(decision(&rules, "Edit", &file(".github/x")), Decision::Ask);
    assert_eq!(decision(&rules, "Edit", &file("a/../.github/x")), Decision::Ask);
    assert_eq!(decision(&rules, "Bash", &json!({ "command": "ls" })), Decision::None);
    assert_eq!(
        decision(&rules, "Bash", &json!({})),
        Decision::Ask,
        "a command that cannot be read"
    );
}

#[test]
fn a_deny_or_ask_that_may_match_asks_and_an_allow_that_may_match_is_none() {
    let broken = json!({ "patch": "?" });
    for (rules, expected) in [
        (set(&["Edit(/etc/**)"], &[], &["Edit"]), Decision::Ask),
        (set(&[], &["Edit(/etc/**)"], &["*"]), Decision::Ask),
        (set(&[], &[], &["Edit(**)"]), Decision::None),
        (set(&[], &[], &["Edit"]), Decision::Allow),
        (set(&["Edit"], &[], &[]), Decision::Deny),
    ] {
        assert_eq!(decision(&rules, "Edit", &broken), expected, "{rules:?}");
    }
}

#[test]
fn every_path_of_a_call_is_judged_and_the_strictest_wins() {
    let rules = set(
        &["Edit(secrets/**)"],
        &["Edit(ci/**)"],
        &["Edit(src/**)", "Edit(docs/**)", "Edit(ci/**)", "Edit(secrets/**)"],
    );
    for (paths, expected) in [
        (["/p/src/a", "/p/docs/b"], Decision::Allow),
        (["/p/src/a", "/p/other"], Decision::None),
        (["/p/src/a", "/p/ci/x"], Decision::Ask),
        (["/p/ci/x", "/p/secrets/k"], Decision::Deny),
    ] {
        let pairs = paths.map(PathPair::lexical);
        let (input, places) = (Json::empty_object(), places());
        let paths = Paths::Known(&pairs);
        let call = Call {
            tool: "Edit",
            host_tool: None,
            input: &input,
            paths,
            shell: None,
            places: &places,
        };
        assert_eq!(
            rules.judge(&call).map_or(Decision::None, |r| r.decision),
            expected,
            "{pairs:?}"
        );
    }
}

#[test]
fn the_ruling_is_named_by_the_highest_level_and_then_by_the_file_order() {
    let rule = |text| Rule::parse(text).unwrap();
    let mut rules = RuleSet::new();
    rules.add_ask(rule("Bash"), Level::Project, "project.toml");
    rules.add_deny(rule("B*"), Level::Private, "private.toml");
    rules.add_ask(rule("*"), Level::Managed, "managed.toml");
    rules.add_ask(rule("Ba*"), Level::Managed, "managed.toml");
    rules.add_allow(rule("Bash"), Level::Managed, "managed.toml");
    let named = |rules: &RuleSet, tool: &str| {
        with_call(tool, &json!({}), |call| rules.judge(call).map(|r| r.to_string()))
    };
    assert_eq!(named(&rules, "Bash").unwrap(), "the private deny rule `B*` matches (private.toml)");
    assert_eq!(named(&rules, "Ls").unwrap(), "the managed ask rule `*` matches (managed.toml)");
    let mut more = RuleSet::new();
    more.add_deny(rule("Edit(x)"), Level::User, "");
    more.extend(rules);
    assert_eq!(
        named(&more, "Edit").unwrap(),
        "the managed ask rule `*` matches (managed.toml)",
        "a certain ask of a higher level names it before an uncertain deny of a lower one"
    );
    assert_eq!(more.len(), 6);
}

#[test]
fn the_step_before_hooks_sees_deny_rules_alone() {
    let rules = set(&["Read(**/.env)"], &["Read"], &[]);
    let ruling = |path: &str| {
        with_call("Read", &json!({ "file_path": path }), |call| {
            rules.deny_only(call).map(|ruling| ruling.decision)
        })
    };
    assert_eq!(ruling(".env"), Some(Decision::Deny));
    assert_eq!(ruling("a"), None);
}

#[test]
fn a_set_knows_which_tools_it_could_concern() {
    let rules = set(&["Edit(/etc/**)"], &[], &["mcp__a__*"]);
    for (tool, any, restricting) in [
        ("Write", true, true),
        ("mcp__a__b", true, false),
        ("Bash", true, true),
        ("WebFetch", false, false),
    ] {
        assert_eq!((rules.could_match(tool), rules.could_restrict(tool)), (any, restricting));
    }
    assert!(!rules.is_empty() && RuleSet::new().is_empty());
}

#[test]
fn a_rule_may_name_the_host_s_own_tool() {
    let (input, places) = (Json::empty_object(), places());
    let call = Call {
        tool: "Bash",
        host_tool: Some("run_shell_command"),
        input: &input,
        paths: Paths::Known(&[]),
        shell: None,
        places: &places,
    };
    assert_eq!(Rule::parse("run_shell_command").unwrap().matches(&call), Truth::Yes);
    assert_eq!(Rule::parse("shell").unwrap().matches(&call), Truth::No);
}

#[test]
fn what_stays_below_a_folder_is_no_file_elsewhere() {
    let bash = |line: &str, rule: &str| matches(rule, "Bash", &json!({ "command": line }));
    for (line, rule, truth) in [
        ("find src -exec cat {} +", "Read(/etc/**)", Truth::No),
        ("find src -exec cat {} +", "Read(src/a)", Truth::Maybe),
        ("find src -name '*.ts' -exec cat {} +", "Read(**/.env)", Truth::No),
        ("find src -name '*.env' -exec cat {} +", "Read(**/.env)", Truth::Maybe),
        ("find / -exec cat {} +", "Read(/etc/**)", Truth::Maybe),
        ("find dist -exec rm -rf {} +", "Bash(rm -rf /*)", Truth::No),
        ("find /srv -exec rm -rf {} +", "Bash(rm -rf /*)", Truth::Maybe),
        ("find . -delete", "Edit(/etc/**)", Truth::No),
        ("find -L /etc -delete", "Edit(/etc/**)", Truth::Yes),
        ("tar xf a.tar -C vendor", "Edit(/etc/**)", Truth::No),
        ("tar xf a.tar -C vendor", "Edit(vendor/a/b)", Truth::Maybe),
        ("tar xf a.tar -C /", "Edit(/etc/**)", Truth::Maybe),
        ("cd / && tar xf a.tar", "Edit(/etc/**)", Truth::Maybe),
        // A repository may begin above the folder, though not at the root or in the home folder.
        ("git pull", "Edit(/etc/**)", Truth::No),
        ("git pull", "Edit(~/.ssh/**)", Truth::No),
        ("git pull", "Edit(.github/**)", Truth::Maybe),
        ("cd sub && git pull", "Edit(.github/**)", Truth::Maybe),
        ("cd ~ && git pull", "Edit(~/.ssh/**)", Truth::Maybe),
        ("git -C /etc/x pull", "Edit(/etc/**)", Truth::Maybe),
        ("git -C / pull", "Edit(/etc/**)", Truth::Maybe),
        ("GIT_WORK_TREE=/etc git pull", "Edit(/etc/**)", Truth::Maybe),
    ] {
        assert_eq!(bash(line, rule), truth, "{line} {rule}");
    }
}

#[test]
fn links_in_a_deny_rule_are_followed() {
    let mut rules = set(&["Edit(/bin/**)"], &[], &["Edit"]);
    let input = json!({ "file_path": "/usr/bin/ls" });
    assert_eq!(decision(&rules, "Edit", &input), Decision::Allow);
    rules.resolve_bases(&places(), &mut |path| Some(path.replace("/bin", "/usr/bin")));
    assert_eq!(decision(&rules, "Edit", &input), Decision::Deny);
}

const RULES: &[&str] = &[
    "*",
    "Read",
    "Edit",
    "Bash",
    "Read(**/.env)",
    "Read(src/**)",
    "Edit(src/**)",
    "Edit(/etc/**)",
    "Write(a)",
    "WebFetch(domain:a.com)",
    "WebFetch(https://a.com/x*)",
    "Agent(a*)",
    "mcp__a__*",
];

fn any_rules() -> impl Strategy<Value = Vec<(usize, Decision, Level)>> {
    let list = prop::sample::select(vec![Decision::Deny, Decision::Ask, Decision::Allow]);
    let level =
        prop::sample::select(vec![Level::Managed, Level::User, Level::Project, Level::Private]);
    prop::collection::vec((0..RULES.len(), list, level), 0..8)
}

fn build(rules: &[(usize, Decision, Level)]) -> RuleSet {
    let mut set = RuleSet::new();
    for (rule, list, level) in rules {
        let rule = Rule::parse(RULES[*rule]).unwrap();
        match list {
            Decision::Deny => set.add_deny(rule, *level, ""),
            Decision::Ask => set.add_ask(rule, *level, ""),
            _ => set.add_allow(rule, *level, ""),
        }
    }
    set
}

fn any_call() -> impl Strategy<Value = (&'static str, serde_json::Value)> {
    prop_oneof![
        (
            prop::sample::select(vec!["Read", "Grep", "Edit", "Write"]),
            prop::sample::select(vec!["src/a", ".env", "src/../.env", "/etc/x", "a", "~/a"])
        )
            .prop_map(|(tool, path)| (tool, json!({ "file_path": path }))),
        prop::sample::select(vec!["Read", "Edit", "Bash", "Agent", "WebFetch", "mcp__a__b"])
            .prop_map(|tool| (tool, json!({}))),
        prop::sample::select(vec!["https://a.com/x", "https://b.com/", "https://a.com\\@b.com/"])
            .prop_map(|url| ("WebFetch", json!({ "url": url }))),
    ]
}

/// The same decision, found the slow way: by looking at every rule on every path.
fn slow_decision(rules: &[(usize, Decision, Level)], call: &Call<'_>) -> Decision {
    let single = |path: Option<&PathPair>, rule: usize, allow: bool| {
        let paths = match (path, call.paths) {
            (Some(path), _) => Paths::Known(std::slice::from_ref(path)),
            (None, paths) => paths,
        };
        let rule = Rule::parse(RULES[rule]).unwrap();
        let call = Call { paths, ..*call };
        if allow { rule.covers(&call) } else { rule.matches(&call) }
    };
    let paths: Vec<Option<&PathPair>> = match call.paths {
        Paths::Known(paths @ [_, ..]) => paths.iter().map(Some).collect(),
        _ => vec![None],
    };
    let verdicts: Vec<Decision> = paths
        .into_iter()
        .map(|path| {
            let mut restricting = Decision::None;
            let mut allowed = false;
            for (rule, list, _) in rules {
                let truth = single(path, *rule, *list == Decision::Allow);
                match (list, truth) {
                    (Decision::Allow, truth) => allowed |= truth == Truth::Yes,
                    (_, Truth::No) => {}
                    (Decision::Deny, Truth::Yes) => restricting = Decision::Deny,
                    _ => restricting = restricting.max(Decision::Ask),
                }
            }
            if restricting == Decision::None && allowed { Decision::Allow } else { restricting }
        })
        .collect();
    match verdicts.iter().max() {
        Some(Decision::Allow) if verdicts.contains(&Decision::None) => Decision::None,
        Some(strictest) => *strictest,
        None => Decision::None,
    }
}

proptest! {
    #[test]
    fn any_text_is_a_rule_or_refused_inside_its_bounds(
        text in "\\PC{0,16}|(Read|WebFetch|Agent|Bash|mcp__a)?[a-c()*/\\[\\]{}|:~. \\\\-]{0,16}",
    ) {
        match Rule::parse(&text) {
            Ok(rule) => {
                let again = Rule::parse(&rule.to_string()).unwrap();
                prop_assert_eq!(again.text(), rule.text());
                prop_assert_eq!(again, rule);
            }
            Err(error) => prop_assert!(text.get(error.span.clone()).is_some(), "{error:?}"),
        }
    }

    #[test]
    fn a_slow_reading_of_the_rules_agrees(rules in any_rules(), (tool, input) in any_call()) {
        let fast = decision(&build(&rules), tool, &input);
        let slow = with_call(tool, &input, |call| slow_decision(&rules, call));
        prop_assert_eq!(fast, slow);
    }

    // None is where no rule speaks; a rule that then speaks first loosens nothing that was set.
    #[test]
    fn one_more_rule_never_loosens_what_others_hold_up(
        rules in any_rules(), more in any_rules(), (tool, input) in any_call(),
    ) {
        let before = decision(&build(&rules), tool, &input);
        let all: Vec<_> = rules.iter().chain(&more).copied().collect();
        let after = decision(&build(&all), tool, &input);
        prop_assert!(after >= before, "{:?} {:?}", before, after);
    }

    #[test]
    fn the_decision_does_not_depend_on_the_order_of_the_rules(
        rules in any_rules().prop_shuffle(), (tool, input) in any_call(),
    ) {
        let mut sorted = rules.clone();
        sorted.sort();
        prop_assert_eq!(
            decision(&build(&rules), tool, &input),
            decision(&build(&sorted), tool, &input)
        );
    }

    // A small disk of links: however a file under a denied folder is spelled, the deny holds.
    #[test]
    fn no_spelling_gets_past_a_deny(
        links in prop::collection::btree_map(
            "/p/[ab]",
            prop::sample::select(vec!["/p/secrets", "/p", "/", "/p/a", "/p/b"]),
            0..3,
        ),
        spelling in prop::collection::vec("a|b|secrets|\\.\\.|\\.|", 0..6),
    ) {
        let given = format!("/p/{}/secrets/key", spelling.join("/"));
        let Some(resolved) = follow(&links, &given) else { return Ok(()) };
        let pair = PathPair::new(&*given).with_resolved(&*resolved);
        let (input, places) = (Json::empty_object(), places());
        let rules = set(&["Read(secrets/**)"], &[], &["*"]);
        let call = Call {
            tool: "Read",
            host_tool: None,
            input: &input,
            paths: Paths::Known(std::slice::from_ref(&pair)),
            shell: None,
            places: &places,
        };
        let decided = rules.judge(&call).map(|ruling| ruling.decision);
        if resolved.starts_with("/p/secrets/") {
            prop_assert_eq!(decided, Some(Decision::Deny), "{} {}", given, resolved);
        }
        // And what an allow of one folder lets through does lie in that folder.
        let allow = set(&[], &[], &["Read(a/**)"]);
        if allow.judge(&call).is_some() {
            prop_assert!(resolved.starts_with("/p/a"), "{} {}", given, resolved);
        }
    }
}

/// Where a path leads on a disk that holds just these links; `None` if it turns in circles.
fn follow(links: &BTreeMap<String, &'static str>, path: &str) -> Option<String> {
    let mut left: Vec<String> = path.split('/').rev().map(String::from).collect();
    let mut at = String::new();
    for _ in 0..200 {
        let Some(component) = left.pop() else {
            return Some(if at.is_empty() { "/".into() } else { at });
        };
        match component.as_str() {
            "" | "." => {}
            ".." => at.truncate(at.rfind('/').unwrap_or(0)),
            name => {
                let next = format!("{at}/{name}");
                match links.get(&next) {
                    Some(target) => {
                        at.clear();
                        left.extend(target.split('/').rev().map(String::from));
                    }
                    None => at = next,
                }
            }
        }
    }
    None
}
