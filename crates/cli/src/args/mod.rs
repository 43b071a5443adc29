//! The command line as plain data, with its help texts.
//!
//! Owns the syntax only. What an argument means is resolved by the module of its command. A doc
//! comment here is a help text; that of a command stands at its variant.

mod agent;
mod examples;

pub(crate) use agent::{
    AgentAction, AgentArgs, AgentListArgs, AgentMode, AgentOptions, AgentResumeArgs, ProviderName,
};

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tenter::core::units;
use tenter::hosts::codec::Host;
use tenter::hosts::{by_name, names};

use examples::{
    AGENT_EXAMPLES, CHECK_EXAMPLES, COMPLETIONS_EXAMPLES, DEMO_EXAMPLES, EXPLAIN_EXAMPLES,
    FIRE_EXAMPLES, HOOK_EXAMPLES, INIT_EXAMPLES, INSTALL_EXAMPLES, LIST_EXAMPLES, MAN_EXAMPLES,
    SCHEMA_EXAMPLES, TEST_EXAMPLES, TOP_EXAMPLES, TRUST_EXAMPLES, UNINSTALL_EXAMPLES,
    UNTRUST_EXAMPLES,
};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "tenter",
    version,
    about = "A hook engine for coding agents: observe, stop or rewrite what an agent does",
    after_help = TOP_EXAMPLES,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands. Only the one that is used is built.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Write a first hooks file, with comments
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Find mistakes in hooks files
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Show the hooks and rules that count here, and where they come from
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show which hooks would run for an event, and why the others would not
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Run the hooks for one event and show the outcome
    #[command(after_help = FIRE_EXAMPLES)]
    Fire(FireArgs),
    /// Be a hook of a host: read its payload, run the hooks, answer in its format
    #[command(after_help = HOOK_EXAMPLES)]
    Hook(HookArgs),
    /// Make tenter a hook of hosts: write it into their own files
    #[command(after_help = INSTALL_EXAMPLES)]
    Install(InstallArgs),
    /// Take it out of their files again
    #[command(after_help = UNINSTALL_EXAMPLES)]
    Uninstall(UninstallArgs),
    /// Show hooks at work: a scripted session, offline, in a home and a project of its own
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Work with a small agent that runs these hooks, with any model or a scripted one
    #[command(after_help = AGENT_EXAMPLES)]
    Agent(AgentArgs),
    /// Run test files: what is to come of events, in a home and a project of their own
    #[command(after_help = TEST_EXAMPLES)]
    Test(TestArgs),
    /// Let the hooks of this project run, after showing what that means
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(TrustArgs),
    /// Take that back: the hooks of this project no longer run
    #[command(after_help = UNTRUST_EXAMPLES)]
    Untrust(UntrustArgs),
    /// Print the JSON Schema of a format that tenter reads or writes
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema(SchemaArgs),
    /// Print the completions for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or that of one command
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

// Where the project is.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project's folder [default: the nearest one with .git or .tenter at or above the current
    /// directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

// Which hooks count.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// A hooks file to use in place of the user's and the project's; it counts as trusted
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,

    /// Run the project's hooks though `tenter trust` was never run, for machines without a terminal
    #[arg(long)]
    pub(crate) trust_project: bool,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// Whose rules hold, and whose files count; `tenter` has rules and files of its own
    #[arg(long, value_name = "HOST", default_value = "tenter", hide_possible_values = true, value_parser = host())]
    pub(crate) profile: &'static Host,
}

/// The hosts whose rules can be applied, by name.
fn host() -> impl TypedValueParser<Value = &'static Host> {
    PossibleValuesParser::new(names())
        .try_map(|name| by_name(&name).ok_or_else(|| format!("there is no host `{name}`")))
}

// The event, in one of its three ways.
#[derive(Debug, Args)]
pub(crate) struct EventArgs {
    /// The event, such as PreToolUse; it may be left out if the payload names it, or with --tool
    /// for PreToolUse
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// The tool that the event is about
    #[arg(long, value_name = "NAME", conflicts_with = "event_file")]
    pub(crate) tool: Option<String>,

    /// The tool's input; without --tool, the fields of the event
    #[arg(long, value_name = "JSON", conflicts_with = "event_file")]
    pub(crate) input: Option<String>,

    /// What the tool gave, as JSON or as a text, for the events after it has run
    #[arg(long, value_name = "RESULT", requires = "tool")]
    pub(crate) response: Option<String>,

    /// A file that holds the event as JSON; without it and without --tool and --input the event is
    /// read from stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) event_file: Option<PathBuf>,

    /// The event is in the host's own bytes, as its hooks would read it
    #[arg(long, conflicts_with_all = ["tool", "input", "response"])]
    pub(crate) wire: bool,
}

// `tenter init`
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Replace a hooks file that is there already
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// How findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Source lines with what is wrong in them
    Human,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanners
    Sarif,
    /// Workflow commands that annotate a pull request
    Github,
}

// `tenter check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The files to check [default: every hooks file that counts here]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// How to write what is found
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: CheckFormat,

    /// Exit 1 for warnings too, not only for errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// Whose files these are [default: told by their names, else tenter's own]
    #[arg(long, value_name = "HOST", hide_possible_values = true, value_parser = host())]
    pub(crate) profile: Option<&'static Host>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

// `tenter list`
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// What another agent would run, tenter and everything else, from its own files
    #[arg(long, value_name = "HOST", conflicts_with_all = ["profile", "config", "trust_project"])]
    pub(crate) host: Option<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

// `tenter explain`
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) event: EventArgs,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

// `tenter fire`
#[derive(Debug, Args)]
pub(crate) struct FireArgs {
    #[command(flatten)]
    pub(crate) event: EventArgs,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Show what each hook was sent and what it printed
    #[arg(long)]
    pub(crate) io: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

// `tenter hook`
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The host that calls, such as claude or codex
    #[arg(value_name = "HOST")]
    pub(crate) host: String,

    /// The host's name of the event, where its payload does not say it
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// How long everything may take, such as 25s: less than the host waits
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) deadline: Option<Duration>,

    /// A hooks file to use in place of the user's and the project's; it counts as trusted
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,

    /// Run the project's hooks though `tenter trust` was never run, for machines without a terminal
    #[arg(long)]
    pub(crate) trust_project: bool,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

// Which files of which hosts.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// The hosts, such as claude, codex or gemini
    #[arg(value_name = "HOST", required = true)]
    pub(crate) hosts: Vec<String>,

    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// Whose files.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Your own file of the host, which counts in every project
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,

    /// The file of this project
    #[arg(long)]
    pub(crate) project: bool,
}

// `tenter install`
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// How long the host is to wait for an answer [default: 1m, or the longest that it waits]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
}

// `tenter uninstall`
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// A time with its unit.
fn time(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text) {
        Ok(Duration::ZERO) => Err("no time at all is too short".into()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

// `tenter demo`
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Write the event stream, one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

// `tenter test`
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Test files, or folders to search for `*.hooktest.toml` [default: .tenter and tests]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Run only cases whose `FILE: NAME` holds this text, or matches it as /regex/
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// How many cases run at once [default: one for each processor, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Write the results as JUnit XML to a file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// `tenter trust`
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust without a question, if what would be trusted has this digest
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<String>,

    /// Whose files these are
    #[arg(long, value_name = "HOST", default_value = "tenter", hide_possible_values = true, value_parser = host())]
    pub(crate) profile: &'static Host,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

// `tenter untrust`
#[derive(Debug, Args)]
pub(crate) struct UntrustArgs {
    /// Take trust back without a question, if what is trusted has this digest
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<String>,

    /// Whose files these are
    #[arg(long, value_name = "HOST", default_value = "tenter", hide_possible_values = true, value_parser = host())]
    pub(crate) profile: &'static Host,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// The formats that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// .tenter/hooks.toml
    HooksFile,
    /// *.hooktest.toml
    TestFile,
    /// What `tenter fire --json` writes
    Fire,
    /// What a hook reads on stdin
    HookInput,
    /// What a hook may print on stdout
    HookOutput,
    /// The events that `tenter fire` and `tenter explain` take
    Events,
    /// What `tenter agent --json` and `tenter demo --json` write, line by line
    Stream,
}

// `tenter schema`
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which format
    #[arg(value_name = "FORMAT", default_value = "hooks-file")]
    pub(crate) name: SchemaName,
}

// `tenter completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

// `tenter man`
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Of which command [default: tenter itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}
