//! Rules about crates and what they depend on.

use serde_json::Value;

use super::Finding;

/// How many packages the lock file may hold, all platforms and tests included. Raising it is a line
/// that somebody reviews. A third are the connection to model servers: HTTP, TLS, and what they
/// need on systems that are not ours yet. Some read YAML, for the tests that write it.
const MOST_PACKAGES: usize = 280;

/// The licence that every crate of ours is under.
const LICENCE: &str = "MIT OR Apache-2.0";

/// Which of our crates a crate may depend on. The order is that of the arrows: what stands below
/// may use what stands above it.
const ARROWS: &[(&str, &[&str])] = &[
    ("tenter-shell", &[]),
    ("tenter-core", &["tenter-shell"]),
    ("tenter-hosts", &["tenter-shell", "tenter-core"]),
    ("tenter-process", &[]),
    ("tenter-store", &["tenter-core"]),
    ("tenter", &["tenter-shell", "tenter-core", "tenter-hosts", "tenter-process", "tenter-store"]),
    ("tenter-agent", &["tenter", "tenter-process"]),
    // The commands at the end of a test case are processes that nothing else starts.
    (
        "tenter-cli",
        &[
            "tenter-core",
            "tenter-hosts",
            "tenter-store",
            "tenter",
            "tenter-agent",
            "tenter-process",
        ],
    ),
    ("tenter-testkit", &[]),
    ("tenter-bench", &["tenter-shell", "tenter-core", "tenter-hosts", "tenter-process", "tenter"]),
    ("xtask", &["tenter-core", "tenter-hosts"]),
];

/// The crates that are functions of their arguments, and what they must not link.
const PURE: &[&str] = &["tenter-shell", "tenter-core", "tenter-hosts"];
const WORLDLY: &[&str] =
    &["tokio", "tokio-util", "futures-util", "libc", "rustix", "tempfile", "reqwest", "jiff"];

fn packages(metadata: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.filter_map(|package| Some((package["name"].as_str()?, package)))
}

/// Dependencies go along the arrows, and `tenter-testkit` is for tests only.
pub(super) fn arrows_point_one_way(metadata: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ours: Vec<_> = packages(metadata).map(|(name, _)| name).collect();
    for (name, package) in packages(metadata) {
        let Some((_, allowed)) = ARROWS.iter().find(|(of, _)| *of == name) else {
            findings
                .push(Finding::new(name, "give this crate its place among the arrows in xtask"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let Some(on) = dependency["name"].as_str() else { continue };
            // Tests may use anything that builds.
            if dependency["kind"] == "dev" {
                continue;
            }
            if ours.contains(&on) && !allowed.contains(&on) {
                findings.push(Finding::new(name, format!("must not depend on `{on}`")));
            }
            if PURE.contains(&name) && WORLDLY.contains(&on) {
                findings.push(Finding::new(name, format!("is pure and must not depend on `{on}`")));
            }
        }
    }
    findings
}

/// Each crate names the licence.
pub(super) fn licences_are_named(metadata: &Value) -> Vec<Finding> {
    packages(metadata)
        .filter(|(_, package)| package["license"] != LICENCE)
        .map(|(name, _)| {
            Finding::new(name, format!("its manifest must say `license = \"{LICENCE}\"`"))
        })
        .collect()
}

/// The lock file stays within its bound.
pub(super) fn dependencies_stay_few(lock: &str) -> Vec<Finding> {
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    if packages <= MOST_PACKAGES {
        return Vec::new();
    }
    let message = format!(
        "{packages} packages are more than {MOST_PACKAGES}: do without one, or raise the bound in \
         xtask and say why"
    );
    vec![Finding::new("Cargo.lock", message)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(name: &str, on: &str, kind: &Value) -> Value {
        let dependencies = json!([{ "name": on, "kind": kind }]);
        let all = ARROWS.iter().map(|(of, _)| json!({ "name": of, "license": LICENCE }));
        let mut packages: Vec<_> = all.filter(|package| package["name"] != name).collect();
        packages.push(json!({ "name": name, "license": "MIT", "dependencies": dependencies }));
        json!({ "packages": packages })
    }

    fn messages(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.message.as_str()).collect()
    }

    #[test]
    fn an_arrow_that_points_back_is_found() {
        for (name, on) in [
            ("tenter-core", "tenter-hosts"),
            ("tenter-cli", "tenter-shell"),
            ("tenter", "tenter-testkit"),
        ] {
            let findings = arrows_point_one_way(&metadata(name, on, &Value::Null));
            assert_eq!(messages(&findings), [format!("must not depend on `{on}`")]);
        }
        assert!(arrows_point_one_way(&metadata("tenter", "tenter-core", &Value::Null)).is_empty());
        assert!(
            arrows_point_one_way(&metadata("tenter", "tenter-testkit", &json!("dev"))).is_empty()
        );
    }

    #[test]
    fn a_pure_crate_that_links_a_runtime_is_found() {
        let findings = arrows_point_one_way(&metadata("tenter-core", "tokio", &Value::Null));
        assert_eq!(messages(&findings), ["is pure and must not depend on `tokio`"]);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        let findings = arrows_point_one_way(&metadata("tenter-new", "serde", &Value::Null));
        assert_eq!(messages(&findings), ["give this crate its place among the arrows in xtask"]);
    }

    #[test]
    fn another_licence_is_found() {
        let findings = licences_are_named(&metadata("tenter-core", "serde", &Value::Null));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].place, "tenter-core");
    }

    #[test]
    fn too_many_packages_are_found() {
        let lock = |count: usize| "[[package]]\nname = \"x\"\n\n".repeat(count);
        assert!(dependencies_stay_few(&lock(MOST_PACKAGES)).is_empty());
        assert_eq!(dependencies_stay_few(&lock(MOST_PACKAGES + 1)).len(), 1);
    }
}
