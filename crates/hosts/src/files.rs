//! Where the agents of the field keep their hooks, for rules that guard those files.
//!
//! Owns the list: patterns of path rules, from the project or from the home folder. Does not own how
//! a host's file is read; that is the host's module.

/// Files and folders in which a host's hooks, or the switches that turn them off, are configured.
pub const HOOK_FILES: &[&str] = &[
    // Claude Code, and others that read its files.
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/**",
    "~/.claude/settings.json",
    "~/.claude/settings.local.json",
    "~/.claude/hooks/**",
    // Codex CLI.
    "**/.codex/hooks.json",
    "**/.codex/config.toml",
    "~/.codex/requirements.toml",
    // Gemini CLI and Qwen Code.
    ".gemini/settings.json",
    "~/.gemini/settings.json",
    ".qwen/settings.json",
    "~/.qwen/settings.json",
    // Crush.
    "crush.json",
    ".crush.json",
    "~/.config/crush/crush.json",
    // Cursor.
    ".cursor/hooks.json",
    "~/.cursor/hooks.json",
    // Copilot.
    ".github/hooks/**",
    "~/.copilot/hooks/**",
    // Droid.
    ".factory/hooks.json",
    ".factory/settings.json",
    ".factory/settings.local.json",
    "~/.factory/hooks.json",
    "~/.factory/settings.json",
    // Cline.
    ".clinerules/hooks/**",
    ".cline/hooks/**",
    "~/Documents/Cline/Hooks/**",
    // Goose, Kimi, Hermes, hotl, and what is shared by several.
    ".agents/plugins/**",
    ".agents/hooks.json",
    "~/.agents/plugins/**",
    "~/.kimi/config.toml",
    "~/.kimi-code/config.toml",
    "~/.hermes/config.yaml",
    "~/.config/hotl/config.toml",
];

/// Folders that hold such files: who removes or replaces one has removed them.
pub const HOOK_FOLDERS: &[&str] = &[
    ".claude",
    "~/.claude",
    "**/.codex",
    ".gemini",
    "~/.gemini",
    ".qwen",
    "~/.qwen",
    "~/.config/crush",
    ".cursor",
    "~/.cursor",
    ".github/hooks",
    ".factory",
    "~/.factory",
    ".clinerules",
    ".agents",
];

#[cfg(test)]
mod tests {
    use tenter_core::rules::Rule;

    use super::*;

    #[test]
    fn every_pattern_is_one_of_a_path_rule() {
        for pattern in HOOK_FILES.iter().chain(HOOK_FOLDERS) {
            assert!(Rule::parse(&format!("Edit({pattern})")).is_ok(), "{pattern}");
        }
    }
}
