//! The reference page of test files: what stands above the table of keys.
//!
//! The keys are the library's; what is said here is about how they go together.

/// What stands above the tables.
const HEAD: &str = r#"# Test files

`tenter test` runs `*.hooktest.toml`. A file has hooks, and cases: an event, and what is to come of it.

```toml
[[hook]]
event   = "PreToolUse"
matcher = "Bash"
command = "echo 'No Haskell.' >&2; exit 2"

[[case]]
name   = "exit 2 denies, and stderr is the reason"
event  = { tool_name = "Bash", tool_input = { command = "ghc" } }
expect = { decision = "deny", reason = "No Haskell.", rewritten = false }

[[case]]
name   = "other tools pass"
event  = { tool_name = "Read", tool_input = { file_path = "a" } }
expect = { decision = "none", hooks = [{ status = "skipped", skip = "matcher" }] }
max_ms = 2000
```

More of them stand in [`tests/spec`](../../tests/spec): they say how tenter behaves, one file a theme.

## The world of a case

Each case has a temporary home and, beside it, a temporary project with a `.git`, in which the session
is. The environment is `PATH` as it was, `HOME` and the `XDG_*` folders in the temporary home, and what
`env` adds. The managed files of the machine do not count, and neither do the user's. When a case is over,
what it has left behind is ended and removed.

Hooks of a test file count as trusted and are of user level, as its rules are: first those of `config`, then
`[[hook]]`, then `[[case.hook]]`. A relative program is one of the case's project, or else one beside
the test file. Where neither the file nor the case has `hook` or `config`, what is found counts: put a
`.tenter/hooks.toml` among the `files`, or a `.config/tenter/hooks.toml` among the `home_files`.

A case with several events has `[[case.step]]`s, on one engine. Hooks that nobody waits for are awaited before
an outcome is compared, and `max_ms` does not count that. The commands of `after` come last.

## What is expected

`expect` is a partial match on what `tenter fire --json --io` gives:

| where `expect` has | it matches |
|---|---|
| a text, a number, `true`, `false` | the same value |
| `{ null = true }` | `null` |
| a table | an object whose members match those that are given; others do not matter |
| a list | a list of that length, element by element |
| `{ contains = X }` | a text with `X` in it, or a list with an element that matches `X` |
| `{ matches = 'regex' }` | a text in which the regex matches somewhere |
| `{ one_of = [X, Y] }` | a value that matches one of them |
| `{ repeat = "x", times = 3 }` | the text `xxx`; in events and files, too |
| `absent = ["payload.mark", "hooks.0.skip"]`, at the top | an outcome without anything at these paths |

A table of `contains`, `matches` and `one_of` alone is a table like any other where the value is an
object. TOML has no null: where an event or a reply needs one, `event_json` and `reply_json` take
JSON text. A hook has the key `reply_json` beside those of [the hooks file](hooks-file.md).

## Running

`tenter test [PATH…]` takes files, and folders that it searches; without any, `.tenter` and `tests`. Cases run
side by side. `--filter` takes a text, or a `/regex/`, that is sought in `FILE: NAME`. Exit codes: 0 all
passed, 1 a case failed, 65 a file is not valid (the cases of the others run), 66 no such file or no test file.
An interrupt ends what runs and reports what is done.
"#;

pub(super) fn page() -> String {
    tenter_hosts::native::keys::test_file_markdown(HEAD)
}
