//! Where a wrapper puts what it starts: in another folder, under another root, on another machine.
//!
//! Owns: the options that say so. Does not own: what folders are (`folder`).

use crate::folder::Move;
use crate::tools::{option_values, short_values};
use crate::word::Word;

/// Options that name the folder in which a program starts another.
const FOLDER_OPTIONS: &[(&[&str], &[&str])] = &[
    (&["env", "genv"], &["-C", "--chdir"]),
    (&["sudo", "sudo-rs"], &["-D", "--chdir"]),
    (&["run0"], &["-D", "--chdir"]),
    (&["systemd-run"], &["--working-directory"]),
    (&["uv"], &["--directory"]),
    (&["conda", "mamba", "micromamba"], &["--cwd"]),
    (&["make", "gmake"], &["-C", "--directory"]),
    (&["git"], &["-C"]),
];

/// Programs that start others in containers or on machines with files of their own.
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"];

/// Options that bring folders of ours into a container.
const MOUNTS: &[&str] = &["--volume", "--mount", "--volumes-from"];

/// Where a program with these options puts what it starts.
pub(crate) fn of(name: &str, options: &[Word]) -> Move {
    let has = |wanted: &[&str]| {
        options.iter().any(|option| {
            let text = option.known_prefix();
            wanted.contains(&text.split('=').next().unwrap_or(text))
        })
    };
    match name {
        "chroot" | "fakechroot" => return Move::OtherRoot,
        "sudo" | "sudo-rs" if has(&["--chroot"]) || !short_values(options, 'R').is_empty() => {
            return Move::OtherRoot;
        }
        "sudo" | "sudo-rs" if has(&["--login"]) || !short_values(options, 'i').is_empty() => {
            return Move::Unknown;
        }
        "pkexec" if !has(&["--keep-cwd"]) => return Move::Unknown,
        // A unit starts at the root, or in the home folder.
        "systemd-run" if has(&["--property", "-p"]) => return Move::Unknown,
        "systemd-run" if !has(&["--scope", "--same-dir", "-d", "--working-directory"]) => {
            return Move::Unknown;
        }
        "ip" | "unshare" if has(&["--root", "-R", "--wd", "-w"]) => return Move::OtherRoot,
        _ if CONTAINERS.contains(&name) => {
            let mounts = has(MOUNTS) || !short_values(options, 'v').is_empty();
            return if mounts { Move::OtherRoot } else { Move::Away };
        }
        _ => {}
    }
    let Some((_, names)) = FOLDER_OPTIONS.iter().find(|(programs, _)| programs.contains(&name))
    else {
        return Move::Stay;
    };
    match option_values(options, names).as_slice() {
        // In a cluster the letter may also be another option's value.
        [] if names.iter().any(|name| {
            name.len() == 2
                && name.chars().nth(1).is_some_and(|c| !short_values(options, c).is_empty())
        }) =>
        {
            Move::Unknown
        }
        [] => Move::Stay,
        [one] => Move::To(one.clone()),
        _ => Move::Unknown,
    }
}

/// Where a program itself uses the files its arguments name.
pub(crate) fn of_files(name: &str, args: &[Word]) -> Move {
    match name {
        "git" => {
            let mut at = 0;
            while let Some(option) = args.get(at).filter(|arg| arg.known_prefix().starts_with('-'))
            {
                let valued = matches!(
                    option.literal(),
                    Some("-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace")
                );
                at += if valued { 2 } else { 1 };
            }
            let before = args.get(..at.min(args.len())).unwrap_or_default();
            let elsewhere = before.iter().any(|arg| {
                let text = arg.known_prefix();
                text.starts_with("--git-dir") || text.starts_with("--work-tree")
            });
            if elsewhere { Move::Unknown } else { of(name, before) }
        }
        "tar" | "gtar" | "bsdtar" => {
            let moves = args.iter().enumerate().any(|(at, arg)| {
                let text = arg.known_prefix();
                text.starts_with("--dir")
                    || text.starts_with("--cd")
                    || ((at == 0 || text.starts_with('-'))
                        && !text.starts_with("--")
                        && text.contains('C'))
            });
            if moves { Move::Unknown } else { Move::Stay }
        }
        _ => Move::Stay,
    }
}
