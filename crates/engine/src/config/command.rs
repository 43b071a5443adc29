//! From a hook's command to what is started: placeholders filled in, paths made absolute.
//!
//! Owns where a relative program or script is sought. Starting it is another's business, and so is the environment but for what the hook adds.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_core::hook::{Command, CommandLine, Cwd};

use super::interpreter;
use super::placeholder::fill_in;
pub use super::placeholder::{CommandContext, CommandError, PROJECT_DIR};
use super::places::lexical;

/// The shell for a command that is a text.
const SHELL: &str = "/bin/sh";

/// A command that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedCommand {
    /// The program: an absolute path, or a bare name that is looked up.
    pub program: OsString,
    /// What follows it.
    pub args: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Variables to add to the environment: the host's placeholders, then the hook's own.
    pub env: Vec<(OsString, OsString)>,
    /// The names under which a shell or an interpreter complains about this very command: the
    /// program and the script, as written and absolute.
    pub own_names: Vec<String>,
    /// The files that it starts.
    pub needs: Vec<NeededFile>,
}

impl ResolvedCommand {
    /// Puts the interpreter before a text that begins with a script which may not be executed: the one
    /// that the script names, else the shell itself. Looks at the script.
    pub fn run_without_exec_bit(&mut self) {
        let Some(line) = self.args.last_mut() else { return };
        let first = self.needs.iter().rev().find(|file| file.role == FileRole::Program);
        let Some(script) = first.filter(|file| file.written.starts_with(['.', '/'])) else {
            return;
        };
        let is_first = |line: &OsStr| {
            let line = line.to_string_lossy();
            let line = line.trim_start().trim_start_matches('\'');
            line.starts_with(&script.written) || line.starts_with(&*script.path.to_string_lossy())
        };
        let may_run = |found: &fs::Metadata| found.permissions().mode() & 0o111 != 0;
        let is_plain_file = |found: &fs::Metadata| found.is_file() && !may_run(found);
        if !is_first(line) || !fs::metadata(&script.path).is_ok_and(|found| is_plain_file(&found)) {
            return;
        }
        let mut with =
            interpreter_of(&script.path).map_or_else(|| self.program.clone(), OsString::from);
        with.push(" ");
        with.push(&line);
        *line = with;
    }

    /// The first file without which it cannot start and that does not exist. Looks at each of them.
    pub fn missing(&self) -> Option<&NeededFile> {
        self.needs.iter().find(|file| file.alone && !file.path.exists())
    }
}

/// A file that a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededFile {
    /// As it stands in the hooks file.
    pub written: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it is for.
    pub role: FileRole,
    /// Whether the command is nothing without it. A text can go on after a command that failed.
    pub alone: bool,
}

/// What a command needs a file for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// It is executed.
    Program,
    /// An interpreter reads it.
    Script,
}

impl FileRole {
    /// The word in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Script => "script",
        }
    }
}

/// Makes a command ready to be started.
///
/// In a list, and in the values of `env`, `~` and `~/…` at the beginning and `${NAME}` anywhere
/// are filled in, and `$${` is a plain `${`. A text belongs to the shell, which finds the same
/// names in its environment; only a relative program or script at its beginning is made absolute,
/// where the shell would otherwise seek it in another folder.
///
/// # Errors
/// A placeholder that nobody knows.
pub fn resolve(
    command: &Command,
    context: &CommandContext<'_>,
) -> Result<ResolvedCommand, CommandError> {
    let cwd = match command.cwd {
        Cwd::Project => context.project,
        Cwd::Session => context.session_cwd,
    };
    let base = command.base.as_ref().map_or(context.project, Path::new);
    let mut resolved = match &command.line {
        CommandLine::Argv(words) => resolve_argv(words, base, context)?,
        CommandLine::Shell(text) => {
            let default = [SHELL.to_owned()];
            let shell = command.shell.as_deref().unwrap_or(&default);
            resolve_shell(text, shell, base, cwd, context)?
        }
    };
    cwd.clone_into(&mut resolved.cwd);
    resolved.env = context
        .placeholders
        .iter()
        .map(|(name, value)| (OsString::from(name), value.clone()))
        .collect();
    for (name, value) in &command.env {
        resolved.env.push((OsString::from(name), fill_in(value, context, false)?));
    }
    Ok(resolved)
}

fn resolve_argv(
    words: &[String],
    base: &Path,
    context: &CommandContext<'_>,
) -> Result<ResolvedCommand, CommandError> {
    let mut filled =
        words.iter().map(|word| fill_in(word, context, true)).collect::<Result<Vec<_>, _>>()?;
    let shown: Vec<_> = filled.iter().map(|word| word.to_string_lossy()).collect();
    let script = interpreter::script(&shown.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let mut own_names = Vec::new();
    let mut needs = Vec::new();
    if let (Some(written), Some(program)) = (words.first(), filled.first_mut()) {
        add_name(&mut own_names, written);
        add_name(&mut own_names, &program.to_string_lossy());
        if let Some(path) = as_path(program, base) {
            *program = path.clone().into_os_string();
            add_name(&mut own_names, &path.to_string_lossy());
            needs.push(NeededFile {
                written: written.clone(),
                path,
                role: FileRole::Program,
                alone: true,
            });
        }
    }
    if let Some(script) = script
        && let (Some(written), Some(word)) = (words.get(script.at), filled.get_mut(script.at))
    {
        let path = lexical(&base.join(&*word));
        add_name(&mut own_names, written);
        add_name(&mut own_names, &word.to_string_lossy());
        add_name(&mut own_names, &path.to_string_lossy());
        // What may be an option's value is left as it is unless there is such a file.
        if script.certain || path.exists() {
            *word = path.clone().into_os_string();
        }
        if script.certain {
            needs.push(NeededFile {
                written: written.clone(),
                path,
                role: FileRole::Script,
                alone: true,
            });
        }
    }
    let mut filled = filled.into_iter();
    Ok(ResolvedCommand {
        program: filled.next().unwrap_or_default(),
        args: filled.collect(),
        cwd: PathBuf::new(),
        env: Vec::new(),
        own_names,
        needs,
    })
}

fn resolve_shell(
    text: &str,
    shell: &[String],
    base: &Path,
    cwd: &Path,
    context: &CommandContext<'_>,
) -> Result<ResolvedCommand, CommandError> {
    let mut words =
        shell.iter().map(|word| fill_in(word, context, true)).collect::<Result<Vec<_>, _>>()?;
    let mut own_names = Vec::new();
    let mut needs = Vec::new();
    if let (Some(written), Some(program)) = (shell.first(), words.first_mut()) {
        add_name(&mut own_names, &program.to_string_lossy());
        if let Some(path) = as_path(program, base) {
            *program = path.clone().into_os_string();
            add_name(&mut own_names, &path.to_string_lossy());
            // The default is on every machine, and looking for it would be for nothing.
            if written != SHELL {
                needs.push(NeededFile {
                    written: written.clone(),
                    path,
                    role: FileRole::Program,
                    alone: true,
                });
            }
        }
    }
    let mut line = OsString::from(text);
    let alone = !text.trim_end().contains([';', '|', '\n']);
    for file in files_of_text(text).into_iter().rev() {
        let Some(written) = text.get(file.span.clone()) else { continue };
        let path = lexical(&base.join(tilde(written, context)));
        add_name(&mut own_names, written);
        add_name(&mut own_names, &path.to_string_lossy());
        if base != cwd && is_relative(written) && path.exists() {
            line = with_path(&line, &file.span, &path);
        }
        needs.push(NeededFile { written: written.to_owned(), path, role: file.role, alone });
    }
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_else(|| OsString::from(SHELL));
    let args = words.chain([OsString::from("-c"), line]).collect();
    Ok(ResolvedCommand { program, args, cwd: PathBuf::new(), env: Vec::new(), own_names, needs })
}

/// How many bytes of a script are looked at for its first line.
const LONGEST_SHEBANG: u64 = 256;

/// What the first line of a script says that it is run by.
fn interpreter_of(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    fs::File::open(script).ok()?.take(LONGEST_SHEBANG).read_to_end(&mut start).ok()?;
    let text = String::from_utf8_lossy(&start).into_owned();
    let line = text.strip_prefix("#!")?.lines().next()?.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " /._-+=,".contains(c);
    (!line.is_empty() && line.chars().all(is_plain)).then(|| line.to_owned())
}

fn add_name(names: &mut Vec<String>, name: &str) {
    if !name.is_empty() && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// The absolute path of a program, unless it is a bare name that is looked up.
fn as_path(program: &OsStr, base: &Path) -> Option<PathBuf> {
    let is_path = program.as_encoded_bytes().contains(&b'/');
    is_path.then(|| lexical(&base.join(program)))
}

fn is_relative(word: &str) -> bool {
    !word.starts_with(['/', '~'])
}

/// A word of a text with the home folder in place of `~`.
fn tilde(word: &str, context: &CommandContext<'_>) -> PathBuf {
    match word.strip_prefix('~') {
        Some("") => context.home.to_owned(),
        Some(rest) if rest.starts_with('/') => context.home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(word),
    }
}

/// A file that the first command of a text names.
struct FileOfText {
    span: Range<usize>,
    role: FileRole,
}

/// The program and the script of a text, as far as its first words mean nothing special to a shell.
fn files_of_text(text: &str) -> Vec<FileOfText> {
    let words = plain_words(text);
    let is_program = |word: &str| word.contains('/');
    let shown: Vec<_> = words.iter().filter_map(|span| text.get(span.clone())).collect();
    let mut files = Vec::new();
    if let (Some(span), Some(word)) = (words.first(), shown.first())
        && is_program(word)
    {
        files.push(FileOfText { span: span.clone(), role: FileRole::Program });
    }
    if let Some(script) = interpreter::script(&shown)
        && script.certain
        && let Some(span) = words.get(script.at)
    {
        files.push(FileOfText { span: span.clone(), role: FileRole::Script });
    }
    files
}

/// The words at the beginning of a text that a shell takes as they are. Assignments and `exec`
/// before them are passed over.
fn plain_words(text: &str) -> Vec<Range<usize>> {
    let is_plain = |c: char| c.is_alphanumeric() || "_@%+:,./-=".contains(c);
    let line = text.trim_start();
    let offset = text.len() - line.len();
    let line = line.lines().next().unwrap_or_default();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(rest) = line.get(at..) {
        let word_at = at + (rest.len() - rest.trim_start().len());
        let rest = line.get(word_at..).unwrap_or_default();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if !word.strip_prefix('~').unwrap_or(word).chars().all(is_plain) || word.is_empty() {
            // Glued to what follows, the last word may not be what it seems.
            break;
        }
        at = word_at + end;
        if words.is_empty() && (word == "exec" || is_assignment(word)) {
            continue;
        }
        words.push(offset + word_at..offset + at);
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The text with a quoted path in place of a word.
fn with_path(line: &OsStr, span: &Range<usize>, path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = line.as_bytes();
    let mut out = bytes.get(..span.start).unwrap_or_default().to_vec();
    out.push(b'\'');
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\'' => out.extend_from_slice(br"'\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out.extend_from_slice(bytes.get(span.end..).unwrap_or_default());
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_core::hook::Leftovers;

    fn command(line: CommandLine) -> Command {
        Command {
            line,
            shell: None,
            env: Vec::new(),
            cwd: Cwd::Project,
            leftovers: Leftovers::Leave,
            scripts: Vec::new(),
            base: None,
        }
    }

    fn argv(words: &[&str]) -> Command {
        command(CommandLine::Argv(words.iter().map(ToString::to_string).collect()))
    }

    fn shell(text: &str) -> Command {
        command(CommandLine::Shell(text.into()))
    }

    fn context(placeholders: &[(String, OsString)]) -> CommandContext<'_> {
        CommandContext {
            home: Path::new("/home/u"),
            project: Path::new("/p"),
            session_cwd: Path::new("/p/sub"),
            placeholders,
        }
    }

    fn line(resolved: &ResolvedCommand) -> Vec<String> {
        [&resolved.program]
            .into_iter()
            .chain(&resolved.args)
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    fn resolved(command: &Command) -> Vec<String> {
        line(&resolve(command, &context(&[])).unwrap())
    }

    #[test]
    fn placeholders_are_filled_in_and_relative_programs_and_scripts_made_absolute() {
        for (words, expected) in [
            (&["./g.sh", "./data"][..], &["/p/g.sh", "./data"][..]),
            (&["guards/../g.sh"], &["/p/g.sh"]),
            (&["~/bin/g", "~", "a~"], &["/home/u/bin/g", "/home/u", "a~"]),
            (&["${TENTER_PROJECT_DIR}/g", "--at=${TENTER_PROJECT_DIR}"], &["/p/g", "--at=/p"]),
            (&["python3", "-u", "g.py"], &["python3", "-u", "/p/g.py"]),
            (
                &["awk", "{ print $${NF} }", "${}", "${a b}", "$x"],
                &["awk", "{ print ${NF} }", "${}", "${a b}", "$x"],
            ),
            (&["git", "x/y"], &["git", "x/y"]),
        ] {
            assert_eq!(resolved(&argv(words)), expected);
        }
    }

    #[test]
    fn the_hosts_placeholders_are_known_and_are_variables_too() {
        let host = [("CLAUDE_PROJECT_DIR".to_owned(), OsString::from("/p"))];
        let mut command = argv(&["${CLAUDE_PROJECT_DIR}/g"]);
        command.env = vec![("RULES".into(), "${CLAUDE_PROJECT_DIR}/r".into())];
        let resolved = resolve(&command, &context(&host)).unwrap();
        assert_eq!(resolved.program, "/p/g");
        let env: Vec<_> =
            resolved.env.iter().map(|(k, v)| (k.to_str().unwrap(), v.to_str().unwrap())).collect();
        assert_eq!(env, [("CLAUDE_PROJECT_DIR", "/p"), ("RULES", "/p/r")]);
    }

    #[test]
    fn a_placeholder_that_nobody_knows_is_an_error_that_names_it() {
        let error = resolve(&argv(&["echo", "x${HOME}"]), &context(&[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`${HOME}` in `x${HOME}` stands for nothing; known are `${TENTER_PROJECT_DIR}`; for other \
             variables write the command as one text, which a shell reads"
        );
        let mut command = shell("echo ${HOME}");
        assert_eq!(resolved(&command), ["/bin/sh", "-c", "echo ${HOME}"]);
        command.env = vec![("A".into(), "${B}".into())];
        assert_eq!(resolve(&command, &context(&[])).unwrap_err().placeholder, "B");
    }

    #[test]
    fn the_shell_is_the_hooks_own_with_its_options() {
        let mut command = shell("exit 2");
        command.shell = Some(vec!["bash".into(), "-eu".into()]);
        assert_eq!(resolved(&command), ["bash", "-eu", "-c", "exit 2"]);
    }

    #[test]
    fn a_text_finds_its_program_where_the_hook_stands() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().to_str().unwrap().to_owned();
        fs::write(folder.path().join("it's.sh"), "").unwrap();
        fs::write(folder.path().join("g.sh"), "").unwrap();
        let text = |text: &str, cwd| {
            let mut command = shell(text);
            command.base = Some(base.clone());
            command.cwd = cwd;
            resolved(&command).pop().unwrap()
        };
        assert_eq!(
            text("A=1 ./g.sh --x | cat", Cwd::Project),
            format!("A=1 '{base}/g.sh' --x | cat")
        );
        assert_eq!(text("sh g.sh && true", Cwd::Session), format!("sh '{base}/g.sh' && true"));
        assert_eq!(text("./gone.sh", Cwd::Project), "./gone.sh");
        assert_eq!(text("cd x && ./g.sh", Cwd::Project), "cd x && ./g.sh");
        assert_eq!(text("\"./g.sh\"", Cwd::Project), "\"./g.sh\"");
        // In a project with the project as current directory the shell finds it by itself.
        assert_eq!(resolved(&shell("./g.sh")).pop().unwrap(), "./g.sh");
    }

    #[test]
    fn quotes_in_a_path_are_the_shells_again() {
        let path = with_path(OsStr::new("sh g.sh x"), &(3..7), Path::new("/it's/g.sh"));
        assert_eq!(path, r"sh '/it'\''s/g.sh' x");
    }

    #[test]
    fn what_a_command_needs_is_looked_for() {
        let missing = |command: &Command| {
            let resolved = resolve(command, &context(&[])).unwrap();
            resolved.missing().map(|file| (file.written.clone(), file.role))
        };
        assert_eq!(missing(&argv(&["./g.sh"])), Some(("./g.sh".into(), FileRole::Program)));
        assert_eq!(missing(&argv(&["sh", "g.sh"])), Some(("g.sh".into(), FileRole::Script)));
        assert_eq!(missing(&shell("python3 g.py <&0")), Some(("g.py".into(), FileRole::Script)));
        assert_eq!(missing(&shell("exec ./g.sh")), Some(("./g.sh".into(), FileRole::Program)));
        assert_eq!(missing(&shell("./g.sh || exit 0")), None, "the text makes up for it");
        assert_eq!(missing(&argv(&["git", "g.sh"])), None);
        assert_eq!(missing(&argv(&["/bin/sh", "-c", "x"])), None);
    }

    #[test]
    fn the_names_of_a_command_are_those_it_is_called_by() {
        let names = |command: &Command| resolve(command, &context(&[])).unwrap().own_names;
        assert_eq!(names(&argv(&["sh", "g.sh"])), ["sh", "g.sh", "/p/g.sh"]);
        assert_eq!(names(&shell("./g.sh a")), ["/bin/sh", "./g.sh", "/p/g.sh"]);
    }
}
