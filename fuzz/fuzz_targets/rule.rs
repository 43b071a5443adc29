//! A rule on the first line, a tool on the second, its input as JSON behind them. A rule's own text
//! means the same, and what covers a call for certain matches it for certain.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::json::Json;
use tenter_core::rules::{
    Call, PathPair, Paths, Place, Places, Rule, ShellCall, ToolPaths, Truth, paths_of,
};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let rule = Rule::parse(lines.next().unwrap_or_default());
    let tool = lines.next().unwrap_or("Read");
    let input =
        lines.next().and_then(|text| Json::parse(text).ok()).unwrap_or_else(Json::empty_object);
    let places = Places {
        project: Place::new("/home/me/project"),
        home: Some(Place::new("/home/me")),
        cwd: "/home/me/project/src".to_owned(),
    };
    let pairs: Vec<PathPair>;
    let paths = match paths_of(tool, &input) {
        ToolPaths::None => Paths::Known(&[]),
        ToolPaths::Unreadable => Paths::Unreadable,
        ToolPaths::Known(paths) => {
            match paths.iter().map(|path| places.pairs(path)).collect::<Option<Vec<_>>>() {
                Some(all) => {
                    pairs = all.into_iter().flatten().collect();
                    Paths::Known(&pairs)
                }
                None => Paths::Unreadable,
            }
        }
    };
    let mut lexical = |path: &str| {
        let pairs = places.pairs(path)?.into_iter();
        Some(pairs.map(|pair| PathPair::lexical(pair.given())).collect())
    };
    let shell = (tool == "Bash").then(|| ShellCall::of(&input, &mut lexical));
    let shell = shell.as_ref();
    let call = Call { tool, host_tool: None, input: &input, paths, shell, places: &places };
    let Ok(mut rule) = rule else { return };
    let (matches, covers) = (rule.matches(&call), rule.covers(&call));
    assert!(covers != Truth::Yes || matches == Truth::Yes, "covers, but matches {matches:?}");
    assert!(matches == Truth::No || rule.could_match(tool));
    let again = Rule::parse(rule.text()).expect("its own text parses");
    assert_eq!((again.matches(&call), again.covers(&call)), (matches, covers));
    rule.resolve_bases(&places, &mut |path| Some(path.replace("/home/me", "/data/me")));
    assert!(rule.matches(&call) >= matches, "a resolved base never lets a call go");
});
