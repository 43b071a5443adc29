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
            return if mounts { Move::OtherRoot } else { Move::Inside };
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
