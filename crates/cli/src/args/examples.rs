//! The examples at the end of each help text.

pub(super) const TOP_EXAMPLES: &str = "\
Examples:
  tenter demo                                       see hooks at work, offline
  tenter init                                       write .tenter/hooks.toml
  tenter check                                      find mistakes in it
  tenter trust                                      let its hooks run
  tenter fire --tool Read --input '{\"file_path\":\".env\"}'
                                                    run the hooks for one tool call
  tenter test                                       run *.hooktest.toml

Exit codes:
  0 proceed   1 checks or tests failed   2 denied   3 asks or defers   49 halted
  64 usage    65 bad input      66 no such file               70 a bug in tenter";

pub(super) const INIT_EXAMPLES: &str = "\
Examples:
  tenter init              write .tenter/hooks.toml in this project
  tenter init --force      replace the one that is there

Afterwards:
  tenter check             is it sound?
  tenter trust             let its hooks run
  tenter list              what counts here?";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  tenter check                                every hooks file that counts here
  tenter check .tenter/hooks.toml             one file
  tenter check crush.json                     a host's own file, by its rules
  tenter check --format sarif > tenter.sarif  for a code scanner
  tenter check --format github --strict       in a workflow

Exit codes:
  0 nothing wrong, or warnings alone   1 errors; with --strict, warnings too   66 no such file";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  tenter list
  tenter list --config ci/hooks.toml
  tenter list --profile crush
  tenter list --host claude                         what Claude Code would run
  tenter list --json | jq -r '.hooks[] | select(.state == \"untrusted\") | .name'";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  tenter explain PreToolUse --tool Edit --input '{\"file_path\":\"Cargo.lock\"}'
  tenter explain Stop --input '{}'
  tenter explain PreToolUse --profile crush --tool bash --input '{\"command\":\"ls\"}'
  tenter explain --event-file event.json --json";

pub(super) const HOOK_EXAMPLES: &str = "\
Examples:
  tenter hook claude --deadline 55s
  tenter hook cline PreToolUse
  echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' |
    tenter hook codex

Once the host is known, whatever goes wrong is answered in its format: with its strongest no if any
guard could have had a say, else with no opinion and a line on stderr. Before that: exit 2.";

pub(super) const INSTALL_EXAMPLES: &str = "\
Examples:
  tenter install claude codex           your own files: tenter runs in every project
  tenter install claude --project       this project's file, for everybody who works in it
  tenter install claude --dry-run       show what would change
  tenter install codex --timeout 2m     for hooks that take long

Comments, order and other hooks in a file stay as they are. `tenter uninstall` undoes it.";

pub(super) const UNINSTALL_EXAMPLES: &str = "\
Examples:
  tenter uninstall claude codex         wherever tenter stands
  tenter uninstall claude --project     in this project's file alone
  tenter uninstall claude --dry-run     show what would change

A file that nobody has changed since becomes what it was, byte for byte.";

pub(super) const FIRE_EXAMPLES: &str = "\
Examples:
  tenter fire PreToolUse --tool Bash --input '{\"command\":\"git push --force\"}'
  tenter fire UserPromptSubmit --input '{\"prompt\":\"hello\"}'
  tenter fire PostToolUse --tool Bash --input '{\"command\":\"ls\"}' --response 'a.txt'
  tenter fire --event-file event.json --json --io
  tenter fire --profile crush --config crush.json --tool bash --input '{\"command\":\"ls\"}'
  echo '{\"hook_event_name\":\"Stop\"}' | tenter fire

Exit codes:
  0 proceed   2 denied   3 asks or defers   49 halted   64 usage   65 bad input   66 no such file";

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  tenter demo                             a guard denies, a hook rewrites, a secret is taken out
  tenter demo --json | jq -c 'select(.type == \"hook\")'";

pub(super) const AGENT_EXAMPLES: &str = "\
Examples:
  tenter agent                                       talk to a scripted model, with your hooks
  tenter agent --provider openai --base-url http://127.0.0.1:8080 --model qwen3 'Fix the tests'
                                                     any server with chat completions
  tenter agent --provider anthropic --model MODEL    with ANTHROPIC_API_KEY set
  tenter agent --script turns.toml --headless --json 'go' | jq -c 'select(.type == \"hook\")'
  tenter agent --guardrail default 'Read the page'   a second model checks calls and results
  tenter agent list                                  what was kept
  tenter agent resume                                go on with the last session of this folder

While it works, what you type is heard before the model is asked again. An interrupt ends the turn.
At the prompt, `/compact` summarises the conversation, `/exit` ends, and `/name` is the text of
.tenter/commands/name.md.

Exit codes:
  0 complete   1 the model failed, or a limit was reached   2 refused by a hook   49 halted by a hook
  64 usage     65 bad input   66 no such file or session    130 interrupted";

pub(super) const AGENT_RESUME_EXAMPLES: &str = "\
Examples:
  tenter agent resume                            the last session of this folder
  tenter agent resume last 'And now the docs'    it, with a prompt
  tenter agent resume 20261201-093000-5f3a       a session by its id

A call that was running when the session ended is not run again; the model is told that it may have
done its work.";

pub(super) const AGENT_LIST_EXAMPLES: &str = "\
Examples:
  tenter agent list              the sessions of this folder
  tenter agent list --all
  tenter agent list --json | jq -r '.sessions[].id'";

pub(super) const TEST_EXAMPLES: &str = "\
Examples:
  tenter test                               every test file below .tenter and tests
  tenter test tests/guards.hooktest.toml    one file
  tenter test --filter 'force push'         cases with these words in their name
  tenter test --filter '/guards.*: .*deny/' cases that match a regex
  tenter test --junit report.xml            for a CI server

A test file:
  [[hook]]
  event   = \"PreToolUse\"
  matcher = \"Bash\"
  command = \"echo 'No Haskell.' >&2; exit 2\"

  [[case]]
  name   = \"exit 2 denies, and stderr is the reason\"
  event  = { tool_name = \"Bash\", tool_input = { command = \"ghc\" } }
  expect = { decision = \"deny\", reason = { contains = \"Haskell\" } }

Exit codes:
  0 all passed   1 a case failed   64 usage   65 a test file is not valid   66 no such file, or no
  test file found";

pub(super) const TRUST_EXAMPLES: &str = "\
Examples:
  tenter trust                  show what would run, then ask
  tenter trust --digest HEX     without a question, for what was shown before
  tenter trust --profile crush  the hooks in the project's crush.json";

pub(super) const UNTRUST_EXAMPLES: &str = "\
Examples:
  tenter untrust                show what is trusted, then ask
  tenter untrust --digest HEX   without a question";

pub(super) const SCHEMA_EXAMPLES: &str = "\
Examples:
  tenter schema > hooks.schema.json       for an editor: the hooks file
  tenter schema hook-output               what a hook may print
  tenter schema stream                    the event stream of an agent
  tenter schema events | jq -r '.properties.hook_event_name.enum[]'
                                          the names of all events";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  tenter completions bash > ~/.local/share/bash-completion/completions/tenter
  tenter completions zsh > ~/.zfunc/_tenter
  tenter completions fish > ~/.config/fish/completions/tenter.fish";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  tenter man | man -l -
  tenter man fire > tenter-fire.1";
