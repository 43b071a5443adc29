//! The environment that hooks are given.
//!
//! Owns which variables of a session are kept from hooks, and the few that every hook gets. The
//! session's variables come from the caller; this process's own are never looked at.
//!
//! An `[env]` section concerns the hooks of its own level and of lower ones. So a project can keep
//! a variable from its own hooks, and neither take one that a managed hook needs nor hand a
//! credential to it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tenter_core::hook::Level;
use tenter_hosts::config;
use tenter_process::Environment;

/// The longest value that is put into the environment, in bytes.
pub const LONGEST_VALUE: usize = 4096;

/// The variable that lists, with spaces between them, those that were too long or held a NUL.
pub const OMITTED: &str = "TENTER_OMITTED";

/// The variables that speak of one event. What a hook inherits under these names is about another
/// one, and is removed.
pub const EVENT_VARIABLES: [&str; 6] = [
    "TENTER_EVENT",
    "TENTER_SESSION_ID",
    "TENTER_PROJECT_DIR",
    "TENTER_CWD",
    "TENTER_TOOL_NAME",
    OMITTED,
];

/// The credentials of model providers and of agents' own services, which no hook needs to do its
/// work: exact names, sorted.
///
/// General credentials that ordinary tools read (`GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`,
/// `GOOGLE_APPLICATION_CREDENTIALS`, `DATABRICKS_TOKEN`, …) are not among them, though they open
/// some models too: hooks run those tools. `[env] strip` takes them away.
pub const CREDENTIALS: &[&str] = &[
    "AI21_API_KEY",
    "AIHUBMIX_API_KEY",
    "AI_GATEWAY_API_KEY",
    "ALEPH_ALPHA_API_KEY",
    "AMP_API_KEY",
    "ANTHROPIC_ADMIN_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANYSCALE_API_KEY",
    "ARK_API_KEY",
    "ASSEMBLYAI_API_KEY",
    "AUGMENT_API_TOKEN",
    "AUGMENT_SESSION_AUTH",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_AI_API_KEY",
    "AZURE_AI_INFERENCE_API_KEY",
    "AZURE_API_KEY",
    "AZURE_INFERENCE_CREDENTIAL",
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_KEY",
    "BAICHUAN_API_KEY",
    "BASETEN_API_KEY",
    "BEDROCK_API_KEY",
    "CEREBRAS_API_KEY",
    "CHUTES_API_KEY",
    "CLAUDE_API_KEY",
    "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
    "CODEIUM_API_KEY",
    "CODESTRAL_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "CODEX_API_KEY",
    "COHERE_API_KEY",
    "COPILOT_GITHUB_TOKEN",
    "CO_API_KEY",
    "CRUSH_API_KEY",
    "CURSOR_API_KEY",
    "DASHSCOPE_API_KEY",
    "DEEPGRAM_API_KEY",
    "DEEPINFRA_API_KEY",
    "DEEPINFRA_TOKEN",
    "DEEPSEEK_API_KEY",
    "ELEVENLABS_API_KEY",
    "FACTORY_API_KEY",
    "FAL_KEY",
    "FEATHERLESS_AI_API_KEY",
    "FEATHERLESS_API_KEY",
    "FIREWORKS_AI_API_KEY",
    "FIREWORKS_API_KEY",
    "FRIENDLI_TOKEN",
    "GEMINI_API_KEY",
    "GEMINI_API_KEYS",
    "GH_COPILOT_TOKEN",
    "GITHUB_COPILOT_API_TOKEN",
    "GITHUB_COPILOT_TOKEN",
    "GLM_API_KEY",
    "GOOGLE_AI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_API_KEY",
    "GOOGLE_GENAI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GOOGLE_VERTEX_API_KEY",
    "GOOSE_PROVIDER__API_KEY",
    "GRADIENT_API_KEY",
    "GROK_API_KEY",
    "GROQ_API_KEY",
    "HELICONE_API_KEY",
    "HF_API_KEY",
    "HF_API_TOKEN",
    "HF_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
    "HUGGINGFACE_API_KEY",
    "HUGGINGFACE_HUB_TOKEN",
    "HUGGINGFACE_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HUNYUAN_API_KEY",
    "HYPERBOLIC_API_KEY",
    "INCEPTION_API_KEY",
    "INFERENCE_API_KEY",
    "IO_NET_API_KEY",
    "JINA_API_KEY",
    "KIMI_API_KEY",
    "LAMBDA_API_KEY",
    "LEPTON_API_KEY",
    "LINGYIWANWU_API_KEY",
    "LITELLM_API_KEY",
    "LITELLM_MASTER_KEY",
    "LLAMA_API_KEY",
    "LMSTUDIO_API_KEY",
    "LM_STUDIO_API_KEY",
    "MINIMAX_API_KEY",
    "MISTRAL_API_KEY",
    "MODELSCOPE_API_KEY",
    "MOONSHOT_API_KEY",
    "MORPH_API_KEY",
    "NEBIUS_API_KEY",
    "NOUS_API_KEY",
    "NOVITA_API_KEY",
    "NVIDIA_API_KEY",
    "NVIDIA_NIM_API_KEY",
    "OLLAMA_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_API_KEY",
    "OPENAI_API_KEYS",
    "OPENCODE_API_KEY",
    "OPENCODE_SERVER_PASSWORD",
    "OPENROUTER_API_KEY",
    "PALM_API_KEY",
    "PERPLEXITYAI_API_KEY",
    "PERPLEXITY_API_KEY",
    "POOLSIDE_API_KEY",
    "PORTKEY_API_KEY",
    "PPLX_API_KEY",
    "PREDIBASE_API_TOKEN",
    "QIANFAN_ACCESS_KEY",
    "QIANFAN_SECRET_KEY",
    "QWEN_API_KEY",
    "REKA_API_KEY",
    "REPLICATE_API_KEY",
    "REPLICATE_API_TOKEN",
    "REQUESTY_API_KEY",
    "RUNPOD_API_KEY",
    "SAMBANOVA_API_KEY",
    "SILICONFLOW_API_KEY",
    "STABILITY_API_KEY",
    "STEP_API_KEY",
    "SYNTHETIC_API_KEY",
    "TOGETHERAI_API_KEY",
    "TOGETHER_AI_API_KEY",
    "TOGETHER_API_KEY",
    "UPSTAGE_API_KEY",
    "VENICE_API_KEY",
    "VERCEL_AI_GATEWAY_API_KEY",
    "VERTEX_API_KEY",
    "VLLM_API_KEY",
    "VOLCANO_ENGINE_API_KEY",
    "VOLCENGINE_API_KEY",
    "VOYAGE_API_KEY",
    "WANDB_INFERENCE_API_KEY",
    "WATSONX_APIKEY",
    "WATSONX_API_KEY",
    "WATSONX_TOKEN",
    "WINDSURF_API_KEY",
    "WRITER_API_KEY",
    "XAI_API_KEY",
    "XIAOMI_API_KEY",
    "ZAI_API_KEY",
    "ZHIPUAI_API_KEY",
    "ZHIPU_API_KEY",
    "Z_AI_API_KEY",
    "Z_API_KEY",
];

/// Families of such names; `*` is any run of characters.
pub const CREDENTIAL_PATTERNS: &[&str] = &[
    "ANTHROPIC_*_KEY",
    "ANTHROPIC_*_TOKEN",
    "AZURE_OPENAI_*_KEY",
    "CLAUDE_*_TOKEN",
    "CODEX_*_TOKEN",
    "COPILOT_PROVIDER_*",
    "GEMINI_API_KEY_*",
    "GOOGLE_API_KEY_*",
    "OPENAI_*_KEY",
    "OPENAI_API_KEY_*",
];

/// Whether a variable holds the credential of a model provider.
pub fn is_credential(name: &OsStr) -> bool {
    let name = name.as_bytes();
    CREDENTIALS.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok()
        || CREDENTIAL_PATTERNS.iter().any(|pattern| glob_matches(pattern.as_bytes(), name))
}

/// Whether a name matches a pattern in which `*` is any run of bytes and `?` any one.
fn glob_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern.split_first(), name.split_first()) {
            (Some((b'*', after)), _) => {
                retry = Some((after, name));
                pattern = after;
                continue;
            }
            (Some((wanted, after)), Some((found, rest))) if wanted == found || *wanted == b'?' => {
                (pattern, name) = (after, rest);
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        // What follows the last run does not fit here: the run takes one more byte.
        let Some((after, from)) = retry else { return false };
        let Some((_, from)) = from.split_first() else { return false };
        (pattern, name) = (after, from);
        retry = Some((after, from));
    }
}

/// The `[env]` sections of all files, with their levels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvPolicy {
    layers: Vec<(Level, config::EnvPolicy)>,
}

impl EnvPolicy {
    /// Adds the section of one file.
    pub fn add(&mut self, level: Level, section: config::EnvPolicy) {
        if !section.strip.is_empty() || !section.pass.is_empty() {
            self.layers.push((level, section));
        }
    }

    /// Whether hooks of a level are given a variable of the session.
    ///
    /// What a section of their level or above strips, they are not given, whatever passes it. A
    /// credential they are given only if such a section passes it.
    pub fn gives(&self, name: &OsStr, level: Level) -> bool {
        if EVENT_VARIABLES.iter().any(|own| name == *own) {
            return false;
        }
        let above =
            || self.layers.iter().filter(|(of, _)| *of <= level).map(|(_, section)| section);
        let any = |patterns: &[String]| {
            patterns.iter().any(|pattern| glob_matches(pattern.as_bytes(), name.as_bytes()))
        };
        !above().any(|section| any(&section.strip))
            && (!is_credential(name) || above().any(|section| any(&section.pass)))
    }
}

/// The variables of a session that hooks of a level are given, in the order they came in.
pub fn build(
    session: impl IntoIterator<Item = (OsString, OsString)>,
    policy: &EnvPolicy,
    level: Level,
) -> Vec<(OsString, OsString)> {
    session.into_iter().filter(|(name, _)| policy.gives(name, level)).collect()
}

/// The environment of a session, built once for each level that has hooks.
#[derive(Debug, Clone)]
pub struct BaseEnvironment {
    session: Arc<[(OsString, OsString)]>,
    policy: Arc<EnvPolicy>,
    levels: Arc<[OnceLock<Environment>; 4]>,
}

impl BaseEnvironment {
    /// The environment of a session under a policy, without what the host says in its own
    /// variables of another event.
    pub fn new(
        mut session: Vec<(OsString, OsString)>,
        policy: EnvPolicy,
        event_variables: &[&str],
    ) -> Self {
        session.retain(|(name, _)| !event_variables.iter().any(|own| name == own));
        Self { session: session.into(), policy: Arc::new(policy), levels: Arc::default() }
    }

    /// What hooks of a level start from; what speaks of the event is laid over it.
    pub fn of_level(&self, level: Level) -> &Environment {
        let [managed, user, project, private] = &*self.levels;
        let slot = match level {
            Level::Managed => managed,
            Level::User => user,
            Level::Project => project,
            Level::Private => private,
        };
        slot.get_or_init(|| {
            let given = self.session.iter().filter(|(name, _)| self.policy.gives(name, level));
            given.map(|(name, value)| (name, value)).collect()
        })
    }
}

/// What a hook's environment says of the event.
#[derive(Debug, Clone, Copy)]
pub struct EventVariables<'a> {
    /// The event's name.
    pub event: &'a str,
    /// The session.
    pub session_id: &'a str,
    /// The project.
    pub project: &'a Path,
    /// The agent's current directory.
    pub cwd: &'a OsStr,
    /// The tool, if the event is about one.
    pub tool_name: Option<&'a str>,
}

impl EventVariables<'_> {
    /// The variables, together with `more`: those of the host and of the hook's own placeholders.
    ///
    /// A value that is longer than [`LONGEST_VALUE`] or holds a NUL is left out, and its name is
    /// listed in [`OMITTED`].
    pub fn variables(
        &self,
        more: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let own = [
            ("TENTER_EVENT", Some(OsStr::new(self.event))),
            ("TENTER_SESSION_ID", Some(OsStr::new(self.session_id))),
            ("TENTER_PROJECT_DIR", Some(self.project.as_os_str())),
            ("TENTER_CWD", Some(self.cwd)),
            ("TENTER_TOOL_NAME", self.tool_name.map(OsStr::new)),
        ];
        let own = own
            .into_iter()
            .filter_map(|(name, value)| Some((OsString::from(name), value?.to_owned())));
        let (mut fit, too_much): (Vec<_>, Vec<_>) =
            own.chain(more).partition(|(_, value)| fits(value));
        if !too_much.is_empty() {
            let names: Vec<_> = too_much.into_iter().map(|(name, _)| name).collect();
            fit.push((OsString::from(OMITTED), names.join(OsStr::new(" "))));
        }
        fit
    }
}

/// Whether a value may be put into the environment.
pub fn fits(value: &OsStr) -> bool {
    value.len() <= LONGEST_VALUE && !value.as_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(layers: &[(Level, &[&str], &[&str])]) -> EnvPolicy {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let mut policy = EnvPolicy::default();
        for (level, strip, pass) in layers {
            policy.add(*level, config::EnvPolicy { strip: owned(strip), pass: owned(pass) });
        }
        policy
    }

    fn given(names: &[&str], policy: &EnvPolicy, level: Level) -> Vec<String> {
        let session = names.iter().map(|name| (OsString::from(name), OsString::from("v")));
        let built = build(session, policy, level);
        built.into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn the_list_is_sorted_and_no_name_stands_twice() {
        assert!(
            CREDENTIALS.is_sorted_by(|a, b| a < b),
            "{:?}",
            CREDENTIALS.windows(2).find(|w| w[0] >= w[1])
        );
        for name in CREDENTIALS {
            let by_pattern =
                CREDENTIAL_PATTERNS.iter().filter(|p| glob_matches(p.as_bytes(), name.as_bytes()));
            assert!(by_pattern.count() <= 1, "{name}");
        }
    }

    #[test]
    fn credentials_are_kept_from_hooks_and_settings_are_not() {
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_FOUNDRY_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_API_KEY_2",
            "GEMINI_API_KEY",
            "AZURE_OPENAI_API_KEY",
            "AZURE_OPENAI_EASTUS_API_KEY",
            "AWS_BEARER_TOKEN_BEDROCK",
            "MISTRAL_API_KEY",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "COPILOT_PROVIDER_API_KEY",
            "COPILOT_PROVIDER_BEARER_TOKEN",
            "Z_AI_API_KEY",
        ] {
            assert!(is_credential(OsStr::new(name)), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_MODEL",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "CLAUDE_PROJECT_DIR",
            "OPENAI_BASE_URL",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "MY_API_KEY",
            "anthropic_api_key_file_name",
            "",
        ] {
            assert!(!is_credential(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_section_concerns_its_own_level_and_lower_ones() {
        let policy = policy(&[
            (Level::User, &["DATABASE_*"], &["OPENAI_API_KEY"]),
            (Level::Project, &["PATH"], &["GEMINI_API_KEY", "DATABASE_URL"]),
        ]);
        let names = ["PATH", "DATABASE_URL", "OPENAI_API_KEY", "GEMINI_API_KEY"];
        assert_eq!(given(&names, &policy, Level::Managed), ["PATH", "DATABASE_URL"]);
        assert_eq!(given(&names, &policy, Level::User), ["PATH", "OPENAI_API_KEY"]);
        assert_eq!(given(&names, &policy, Level::Private), ["OPENAI_API_KEY", "GEMINI_API_KEY"]);
    }

    #[test]
    fn what_speaks_of_another_event_is_not_inherited() {
        let names = ["TENTER_EVENT", "TENTER_TOOL_NAME", "TENTER_OMITTED", "TENTER_CONFIG", "A"];
        let passing = policy(&[(Level::User, &[], &["TENTER_*"])]);
        assert_eq!(given(&names, &passing, Level::User), ["TENTER_CONFIG", "A"]);
    }

    #[test]
    fn a_base_environment_differs_by_level_and_is_built_once() {
        let session = vec![
            ("A".into(), "1".into()),
            ("HF_TOKEN".into(), "s".into()),
            ("GONE".into(), "of another event".into()),
        ];
        let base = BaseEnvironment::new(
            session,
            policy(&[(Level::Project, &["A"], &["HF_TOKEN"])]),
            &["GONE"],
        );
        let names = |level| {
            let mut names: Vec<_> =
                base.of_level(level).iter().map(|(name, _)| name.to_owned()).collect();
            names.sort();
            names
        };
        assert_eq!(names(Level::User), ["A"]);
        assert_eq!(names(Level::Project), ["HF_TOKEN"]);
        assert!(std::ptr::eq(base.of_level(Level::User), base.clone().of_level(Level::User)));
    }

    #[test]
    fn long_values_and_nul_are_left_out_and_listed() {
        let long = "x".repeat(LONGEST_VALUE + 1);
        let of = EventVariables {
            event: "PreToolUse",
            session_id: &long,
            project: Path::new("/p"),
            cwd: OsStr::new("/p"),
            tool_name: Some("a\0b"),
        };
        let more = [("CRUSH_TOOL".into(), OsString::from(&*"y".repeat(LONGEST_VALUE)))];
        let variables = of.variables(more);
        let names: Vec<_> = variables.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(
            names,
            ["TENTER_EVENT", "TENTER_PROJECT_DIR", "TENTER_CWD", "CRUSH_TOOL", OMITTED]
        );
        assert_eq!(variables.last().unwrap().1, "TENTER_SESSION_ID TENTER_TOOL_NAME");
        let short = EventVariables { session_id: "s", tool_name: None, ..of };
        assert!(
            short
                .variables([])
                .iter()
                .all(|(name, _)| name != OMITTED && name != "TENTER_TOOL_NAME")
        );
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("A", "A", true),
            ("A", "AB", false),
            ("A*", "A", true),
            ("*_KEY", "X_KEY_KEY", true),
            ("*_KEY", "X_KEYS", false),
            ("A*B*C", "AxxBxBxC", true),
            ("A?C", "ABC", true),
            ("A?C", "AC", false),
            ("*", "", true),
            ("", "", true),
        ] {
            assert_eq!(
                glob_matches(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} {name}"
            );
        }
    }
}
