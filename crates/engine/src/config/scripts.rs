//! Whether the programs and scripts of hooks are there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tenter_core::diagnostic::{Diagnostic, Position};
use tenter_core::hook::{Handler, Hook};
use tenter_core::outcome::Skip;
use tenter_core::suggest::nearest;

use super::LoadedFile;
use super::command::{CommandContext, FileRole, NeededFile, resolve};
use super::places::resolve_links;

/// Looks at the files of a hook's command, and makes a hook broken whose command means nothing.
pub(super) fn check(
    hook: &mut Hook,
    context: &CommandContext<'_>,
    needs_exec_bit: bool,
    files: &[LoadedFile],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Handler::Command(command) = &hook.handler else { return };
    let at = hook.source.position.clone();
    let resolved = match resolve(command, context) {
        Ok(resolved) => resolved,
        Err(error) => {
            let message = format!("`${{{}}}` stands for nothing", error.placeholder);
            let diagnostic =
                Diagnostic::error("hook.unknown-placeholder", message).help(error.help());
            diagnostics.push(placed(diagnostic, at.clone()));
            let place = at.as_ref().map(|at| format!(" at {}:{}:{}", at.file, at.line, at.column));
            let file = at.and_then(|at| files.iter().find(|file| file.name == at.file));
            let place = place.unwrap_or_default();
            hook.handler = Handler::Broken {
                reason: format!("hook `{}` is broken{place}: {error}", hook.name),
                mend: file.and_then(|file| resolve_links(&file.path.to_string_lossy())),
            };
            return;
        }
    };
    if hook.skip == Some(Skip::Disabled) {
        return;
    }
    for file in &resolved.needs {
        if let Some(diagnostic) = check_file(hook, needs_exec_bit, file) {
            diagnostics.push(placed(diagnostic, at.clone()));
        }
    }
}

fn placed(diagnostic: Diagnostic, at: Option<Position>) -> Diagnostic {
    match at {
        Some(at) => diagnostic.at(at),
        None => diagnostic,
    }
}

fn check_file(hook: &Hook, needs_exec_bit: bool, file: &NeededFile) -> Option<Diagnostic> {
    let NeededFile { written, path, role, .. } = file;
    let Ok(found) = fs::metadata(path) else {
        let message = format!(
            "the {} `{written}` of hook `{}` does not exist: there is no `{}`",
            role.as_str(),
            hook.name,
            path.display()
        );
        return Some(Diagnostic::error("hook.missing-script", message).help(help(written, path)));
    };
    if needs_exec_bit
        && *role == FileRole::Program
        && found.is_file()
        && found.permissions().mode() & 0o111 == 0
    {
        let message =
            format!("the program `{written}` of hook `{}` may not be executed", hook.name);
        let help = format!("run `chmod +x {}`, or name its interpreter before it", path.display());
        return Some(Diagnostic::error("hook.not-executable", message).help(help));
    }
    None
}

fn help(written: &str, path: &Path) -> String {
    let names: Vec<String> = path
        .parent()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match nearest(name, names.iter().map(String::as_str)) {
        Some(meant) => {
            let meant = match written.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/{meant}"),
                None => meant.to_owned(),
            };
            format!("did you mean `{meant}`?")
        }
        None => "write the file, or mend the path".to_owned(),
    }
}
