//! The syntax of `tenter agent`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tenter::core::units::parse_size;

use super::ConfigArgs;
use super::examples::{AGENT_LIST_EXAMPLES, AGENT_RESUME_EXAMPLES};

// `tenter agent`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) action: Option<AgentAction>,

    /// What the agent is to do [default: ask at the terminal; without one, read stdin]
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,

    #[command(flatten)]
    pub(crate) options: AgentOptions,
}

/// What else can be done with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentAction {
    /// Go on with a session that was kept
    #[command(after_help = AGENT_RESUME_EXAMPLES)]
    Resume(Box<AgentResumeArgs>),
    /// Show the sessions that were kept
    #[command(after_help = AGENT_LIST_EXAMPLES)]
    List(AgentListArgs),
}

// `tenter agent resume`
#[derive(Debug, Args)]
pub(crate) struct AgentResumeArgs {
    /// The session's id; `last` is the last one of this folder
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) id: String,

    /// What the agent is to do next [default: ask at the terminal; without one, read stdin]
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,

    #[command(flatten)]
    pub(crate) options: AgentOptions,
}

// `tenter agent list`
#[derive(Debug, Args)]
pub(crate) struct AgentListArgs {
    /// Show those of other folders, too
    #[arg(long)]
    pub(crate) all: bool,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who answers for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProviderName {
    /// A script, without a network
    Scripted,
    /// Any server with chat completions; a key is read from `OPENAI_API_KEY`
    Openai,
    /// A server with messages; a key is read from `ANTHROPIC_API_KEY`
    Anthropic,
}

/// What may run without a question where no rule speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentMode {
    /// What changes nothing
    Default,
    /// That, and changes of files
    AcceptEdits,
    /// What changes nothing; all else is denied
    Plan,
    /// Everything
    Bypass,
}

// How the agent works.
#[derive(Debug, Args)]
pub(crate) struct AgentOptions {
    /// Who answers for the model
    #[arg(long, value_name = "PROVIDER", default_value = "scripted")]
    pub(crate) provider: ProviderName,

    /// What a scripted model says: a TOML file of turns [default: one that looks around]
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// The model, by the name that its server has for it [default: the one of a server that was named
    /// and has one]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Where the model's server is, such as `http://127.0.0.1:8080` [default: `OPENAI_BASE_URL` or
    /// `ANTHROPIC_BASE_URL`, else the provider's own]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// What may run without a question where no rule speaks of it
    #[arg(long, value_name = "MODE", default_value = "default")]
    pub(crate) mode: AgentMode,

    /// Ask nobody: every question is answered no
    #[arg(long)]
    pub(crate) headless: bool,

    /// Summarise the conversation when its texts are longer than this, such as 64KiB
    #[arg(long, value_name = "SIZE", default_value = "400KiB", value_parser = parse_size)]
    pub(crate) compact_at: usize,

    /// Let a second model check calls and results: `default`, or a TOML file of rules
    #[arg(long, value_name = "RULES")]
    pub(crate) guardrail: Option<PathBuf>,

    /// The model that checks [default: the agent's]
    #[arg(long, value_name = "MODEL", requires = "guardrail")]
    pub(crate) guardrail_model: Option<String>,

    /// Let the model note what it learns about you, after the first turn and then after every N, for
    /// later sessions
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) user_model_review: Option<u64>,

    /// Write the event stream, one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}
