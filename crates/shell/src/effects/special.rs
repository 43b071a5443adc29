//! Programs whose arguments say more than a row can.
//!
//! Owns: copying, links, modes, archives, `dd`, `find`, `split`. Does not own: rows (`table`).

use super::reader::{Found, Operands, Role, Spec, Style, read};
use super::{Uses, below, below_folder, download, git, inside, table};
use crate::word::Word;
use Role::{Changes, Flag, Folder, Note, Read as In, Value, Write as Out};

/// Notes the files of one of these programs; `false` if it is none.
pub(super) fn uses(uses: &mut Uses<'_, '_>, args: &[Word]) -> bool {
    match uses.name {
        "cp" | "mv" | "ln" | "install" | "scp" | "sftp" | "rsync" | "ditto" | "gcp" | "gmv"
        | "gln" | "ginstall" => copy(uses, args),
        "link" | "mount" => mount(uses, args),
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "aws" | "gsutil" | "rclone"
        | "s3cmd" | "gcloud" => {
            return remote_copy(uses, args);
        }
        "chmod" | "chattr" => modes(uses, args),
        "dd" => dd(uses, args),
        "sed" | "gsed" => return sed(uses, args),
        "gawk" | "awk" => return awk(uses, args),
        "find" | "gfind" => find(uses, args),
        "tar" | "gtar" | "bsdtar" => tar(uses, args),
        "unzip" | "7z" | "7za" | "7zz" | "unrar" | "cpio" | "ar" => archive(uses, args),
        "split" | "csplit" | "gsplit" => split(uses, args),
        "socat" => socat(uses, args),
        "http" | "https" | "xh" | "xhs" => {
            // `field@file` and `field=@file` stand among the operands.
            for arg in args.iter().filter(|arg| !arg.known_prefix().starts_with('-')) {
                uses.text(arg);
            }
            return false;
        }
        "patch" => {
            uses.write_any();
            return false;
        }
        "sudo" | "sudo-rs" | "doas" => {
            let spec = Spec::of(Operands::None)
                .short(&[("e", Note('e')), ("ugpCDRTUhrt", Value)])
                .long(&[("edit", Note('e')), ("user group prompt chdir host", Value)]);
            let found = read(&spec, args);
            if found.has('e') {
                uses.write_all(found.operands.iter().copied());
                uses.read_all(found.operands);
            }
        }
        "vi" | "vim" | "nvim" | "ex" | "nano" | "emacs" => {
            // `+12` and `+cmd` are no files.
            if args.iter().any(|arg| arg.known_prefix().starts_with('+')) {
                let rest: Vec<Word> = args
                    .iter()
                    .filter(|arg| !arg.known_prefix().starts_with('+'))
                    .cloned()
                    .collect();
                if let Some(spec) = table::spec(uses.name) {
                    uses.by_spec(&spec, &rest);
                }
            } else {
                return false;
            }
        }
        "curl" => download::curl(uses, args),
        "wget" | "wget2" => download::wget(uses, args),
        "aria2c" => download::aria2c(uses, args),
        "git" => git::uses(uses, args),
        // What bash takes for its own `time` leaves the option as the name.
        "-o" | "--output" => uses.write_all(args.first()),
        _ => return module(uses, args),
    }
    true
}

/// `python -m pip`.
fn module(uses: &mut Uses<'_, '_>, args: &[Word]) -> bool {
    if !uses.name.starts_with("python") {
        return false;
    }
    let pip = args.windows(2).position(|pair| {
        let texts = (pair.first().and_then(Word::literal), pair.last().and_then(Word::literal));
        texts == (Some("-m"), Some("pip"))
    });
    let (Some(at), Some(spec)) = (pip, table::spec("pip")) else { return false };
    uses.by_spec(&spec, args.get(at + 2..).unwrap_or_default());
    true
}

const COPY: Spec =
    Spec::of(Operands::None).short(&[("t", Folder), ("S", Value), ("sl", Note('l'))]).long(&[
        ("target-directory", Folder),
        ("suffix sparse no-preserve", Value),
        ("symbolic-link link", Note('l')),
    ]);
const INSTALL: Spec =
    Spec::of(Operands::None).short(&[("t", Folder), ("d", Note('d')), ("Smog", Value)]).long(&[
        ("target-directory", Folder),
        ("directory", Note('d')),
        ("suffix mode owner group strip-program", Value),
    ]);
const LINK: Spec = Spec::of(Operands::None)
    .short(&[("t", Folder), ("S", Value)])
    .long(&[("target-directory", Folder), ("suffix", Value)]);
const SCP: Spec = Spec::of(Operands::None).short(&[("iFb", In), ("cJloPSDXBR", Value)]).long(&[]);
const RSYNC: Spec = Spec::of(Operands::None).short(&[("eBTMf", Value)]).long(&[
    ("exclude-from include-from files-from password-file read-batch", In),
    ("log-file write-batch only-write-batch backup-dir temp-dir partial-dir", Out),
    ("remove-source-files remove-sent-files", Changes),
    ("rsh exclude include filter suffix chmod chown bwlimit timeout port out-format", Value),
    ("rsync-path compare-dest copy-dest link-dest max-size min-size block-size", Value),
]);

fn copy(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spec = match uses.name.strip_prefix('g').unwrap_or(uses.name) {
        "install" => INSTALL,
        "ln" => LINK,
        "scp" | "sftp" => SCP,
        "rsync" => RSYNC,
        _ => COPY,
    };
    let found = read(&spec, args);
    let moves = matches!(uses.name, "mv" | "gmv") || found.changes;
    let links = matches!(uses.name, "ln" | "gln") || found.has('l') && !moves;
    let folders: Vec<&Word> = found.of(Folder).collect();
    if found.has('d') {
        return uses.write_all(found.operands);
    }
    if folders.is_empty() {
        uses.values(&found);
        let remote: fn(&str) -> bool = match uses.name {
            "scp" | "sftp" | "rsync" => is_host_path,
            _ => |_| false,
        };
        return transfer(uses, &found.operands, remote, moves, links);
    }
    for folder in folders {
        uses.write(folder);
        for path in &found.operands {
            uses.read(path);
            if moves {
                uses.write(path);
            }
            into_folder(uses, folder, path, links);
        }
    }
}

/// `git mv`.
pub(super) fn copy_in(
    uses: &mut Uses<'_, '_>,
    base: Option<&Word>,
    operands: &[&Word],
    more: &[Word],
) {
    let at = |word: &Word| base.map_or_else(|| word.clone(), |base| inside(base, word));
    let paths: Vec<Word> = operands.iter().copied().chain(more).map(at).collect();
    let paths: Vec<&Word> = paths.iter().collect();
    transfer(uses, &paths, |_| false, true, false);
}

/// `host:path`, `user@host:path`, `rsync://…`: a colon before any slash.
fn is_host_path(text: &str) -> bool {
    text.find(':').is_some_and(|at| at > 0 && !text.get(..at).unwrap_or_default().contains('/'))
}

/// Files get from all paths but the last into the last.
fn transfer(
    uses: &mut Uses<'_, '_>,
    paths: &[&Word],
    remote: fn(&str) -> bool,
    moves: bool,
    links: bool,
) {
    let is_remote = |word: &Word| remote(word.known_prefix());
    let Some((last, sources)) = paths.split_last() else { return };
    if sources.is_empty() {
        if links {
            // The link gets the target's own name, here.
            into_folder(uses, &Word::Literal(".".to_owned()), last, true);
        }
        if !is_remote(last) {
            uses.read(last);
        }
        return;
    }
    let kept = !is_remote(last);
    if kept {
        uses.write(last);
    }
    for source in sources {
        if !is_remote(source) {
            uses.read(source);
            if moves {
                uses.write(source);
            }
        }
        if kept {
            if links {
                uses.link(source, last);
            }
            into_folder(uses, last, source, links);
        }
    }
}

/// Where the target is a folder, the file inside it is what is written.
fn into_folder(uses: &mut Uses<'_, '_>, folder: &Word, source: &Word, links: bool) {
    let Some(text) = source.literal() else { return };
    let text = text.trim_end_matches('/');
    let name = text.rsplit(['/', ':']).next().unwrap_or(text);
    if name.is_empty() || name == "." || name == ".." {
        return;
    }
    if folder.literal().is_none() && !folder.is_one() {
        return;
    }
    let path = inside(folder, &Word::Literal(name.to_owned()));
    // A folder that is not known at all is written as it is.
    if path.known_prefix().is_empty() && path.shell_text().is_none() {
        return;
    }
    uses.write(&path);
    if links {
        uses.link(source, &path);
    }
}

/// `link A B`, and `mount`, which makes a folder be another.
fn mount(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spec = Spec::of(Operands::None)
        .short(&[("BRM", Note('b')), ("o", Role::Text), ("tLUNO", Value)])
        .long(&[
            ("bind rbind move", Note('b')),
            ("types label uuid options-mode", Value),
            ("options", Role::Text),
        ]);
    let found = read(&spec, args);
    let binds = uses.name == "link"
        || found.has('b')
        || found.of(Role::Text).any(|value| value.known_prefix().contains("bind"));
    let [source, target] = found.operands.as_slice() else { return };
    uses.read(source);
    uses.write(target);
    if binds {
        uses.link(source, target);
    }
}

/// Copies between this machine and a container, a pod or a store.
fn remote_copy(uses: &mut Uses<'_, '_>, args: &[Word]) -> bool {
    let spec = table::spec(uses.name).unwrap_or_else(|| {
        Spec::of(Operands::None)
            .long(&[
                ("profile region output query include exclude acl bucket key", Value),
                ("endpoint-url storage-class", Value),
                ("body cli-input-json", Role::Read),
                ("recursive delete quiet", Flag),
            ])
            .short(&[("c", Value)])
    });
    let found = read(&spec, args);
    let words: Vec<&str> =
        found.operands.iter().take(3).map(|word| word.literal().unwrap_or_default()).collect();
    let (skip, moves) = match (uses.name, words.as_slice()) {
        ("docker" | "podman" | "nerdctl" | "kubectl" | "oc", ["cp", ..])
        | ("oc", ["rsync", ..])
        | ("gsutil", ["cp" | "rsync", ..])
        | ("rclone", ["copy" | "copyto" | "sync", ..])
        | ("s3cmd", ["get" | "put" | "sync", ..]) => (1, false),
        ("gsutil", ["mv", ..]) | ("rclone", ["move" | "moveto", ..]) => (1, true),
        ("docker" | "podman" | "nerdctl", ["container", "cp", ..])
        | ("aws", ["s3", "cp" | "sync", ..])
        | ("gcloud", ["storage", "cp" | "rsync", ..] | ["compute", "scp", ..]) => (2, false),
        ("aws", ["s3", "mv", ..]) | ("gcloud", ["storage", "mv", ..]) => (2, true),
        ("aws", ["s3api", "get-object", ..]) => {
            uses.write_all(found.operands.iter().skip(2).copied().last());
            uses.values(&found);
            return true;
        }
        ("aws" | "gcloud" | "rclone" | "s3cmd" | "gsutil", _) => {
            uses.values(&found);
            match uses.name {
                "gcloud" => uses.guess_all(found.operands),
                "rclone" => uses.guess_all(found.operands.into_iter().skip(1)),
                _ => {}
            }
            // Any value of `aws` may be in a file.
            let is_aws = uses.name == "aws";
            for arg in args.iter().filter(|_| is_aws) {
                let text = arg.known_prefix();
                let value = text.split_once('=').map_or(text, |(_, value)| value);
                for begin in ["file://", "fileb://"] {
                    if value.starts_with(begin) {
                        uses.read(&arg.without_prefix(text.len() - value.len() + begin.len()));
                    }
                }
            }
            return true;
        }
        _ => return false,
    };
    uses.values(&found);
    let remote: fn(&str) -> bool = match uses.name {
        "aws" | "gsutil" | "s3cmd" => |text| text.contains("://"),
        "kubectl" | "oc" => |text| text.contains(':'),
        _ => is_host_path,
    };
    transfer(uses, found.operands.get(skip..).unwrap_or_default(), remote, moves, false);
    true
}

fn modes(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spec = Spec::of(Operands::Write)
        .short(if uses.name == "chattr" { &[("vp", Value)] } else { &[] })
        .long(&[("reference", Role::Stands), ("from", Value)]);
    let found = read(&spec, args);
    let is_mode = |word: &Word| {
        word.literal().is_some_and(|text| text.starts_with(['+', '=', '-']) && text.len() > 1)
    };
    // `-x` is a mode, not an option; then the file is the first operand.
    let dashed = args.iter().filter_map(Word::literal).any(|arg| {
        arg.len() > 1
            && arg.starts_with('-')
            && !arg.starts_with("--")
            && arg.bytes().skip(1).all(|byte| b"rwxXstugo,+=-".contains(&byte))
    });
    let skip = match uses.name {
        "chmod" => !dashed && !found.stands,
        _ => found.operands.first().is_some_and(|first| is_mode(first)),
    };
    uses.write_all(found.operands.into_iter().skip(usize::from(skip)));
}

/// `OPEN:f`, `FILE:f,ro`, `CREATE:f` and their kin.
fn socat(uses: &mut Uses<'_, '_>, args: &[Word]) {
    for arg in args {
        for address in arg.known_prefix().split("!!") {
            let Some((kind, path)) = address.split_once(':') else {
                uses.guess(arg);
                continue;
            };
            let path = path.split([',', '!']).next().unwrap_or(path);
            // What is decided at run time follows the known text.
            let path = if arg.literal().is_some() {
                Word::Literal(path.to_owned())
            } else {
                arg.without_prefix(kind.len() + 1)
            };
            match kind.to_ascii_lowercase().as_str() {
                "open" | "file" | "gopen" => {
                    uses.read(&path);
                    uses.write(&path);
                }
                "create" | "creat" => uses.write(&path),
                _ => {}
            }
        }
    }
}

fn dd(uses: &mut Uses<'_, '_>, args: &[Word]) {
    for arg in args {
        let prefix = arg.known_prefix();
        if prefix.starts_with("of=") {
            uses.write(&arg.without_prefix(3));
        } else if prefix.starts_with("if=") {
            uses.read(&arg.without_prefix(3));
        }
    }
}

/// The files that a simple script names: `r f`, `w f`. What else a script may write makes the
/// command unknown.
fn sed(uses: &mut Uses<'_, '_>, args: &[Word]) -> bool {
    for line in args.iter().filter_map(Word::literal).flat_map(|script| script.split('\n')) {
        let line =
            line.trim_start_matches(|char: char| char.is_ascii_digit() || " ,$!".contains(char));
        let Some((command, path)) = line.split_once(' ') else { continue };
        let path = Word::Literal(path.trim_start().to_owned());
        match command {
            "r" | "R" => uses.read(&path),
            "w" | "W" => uses.write(&path),
            _ => {}
        }
    }
    false
}

/// `gawk -i inplace` changes its operands.
fn awk(uses: &mut Uses<'_, '_>, args: &[Word]) -> bool {
    let Some(spec) = table::spec("gawk") else { return false };
    let found = read(&spec, args);
    if found.of(Role::Read).any(|value| value.known_prefix().starts_with("inplace")) {
        uses.write_all(found.files(&spec).iter().copied());
    }
    false
}

fn find(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spec = Spec::of(Operands::None).style(Style::OneDash).long(&[
        ("fprint fprint0 fprintf fls", Out),
        ("files0-from", In),
        ("delete", Note('d')),
    ]);
    let found = read(&spec, args);
    uses.values(&found);
    if found.has('d') {
        let is_root = |arg: &&&Word| !arg.known_prefix().starts_with(['-', '(', '!']);
        let leads =
            |arg: &&Word| matches!(arg.literal(), Some("-H" | "-L" | "-P" | "-O1" | "-O2" | "-O3"));
        let args: Vec<&Word> = args.iter().skip_while(leads).collect();
        let here = Word::Literal(".".to_owned());
        let mut roots: Vec<&Word> = args.iter().take_while(is_root).copied().collect();
        if roots.is_empty() {
            roots.push(&here);
        }
        for root in roots {
            uses.write(root);
            if root.shell_text().is_some() {
                uses.write(&below(root));
            }
        }
    }
}

const TAR: Spec = Spec::of(Operands::None)
    .short(&[
        ("f", Role::Guess),
        ("C", Folder),
        ("TX", In),
        ("g", Role::Edit),
        ("bHLNKVIFz", Flag),
        ("x", Note('x')),
        ("P", Note('P')),
        ("c", Note('c')),
        ("ruA", Note('c')),
        ("O", Note('O')),
        ("t", Note('t')),
    ])
    .long(&[
        ("file", Role::Guess),
        ("directory", Folder),
        ("files-from exclude-from", In),
        ("listed-incremental", Role::Edit),
        ("index-file", Out),
        ("extract get", Note('x')),
        ("create append update catenate concatenate delete", Note('c')),
        ("to-stdout", Note('O')),
        ("absolute-names absolute-paths insecure", Note('P')),
        ("list", Note('t')),
        ("exclude transform strip-components owner group mode mtime format", Value),
        ("use-compress-program", Value),
    ]);

fn tar(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spelled = bundled(args);
    let found = read(&TAR, spelled.as_deref().unwrap_or(args));
    let creates = found.has('c');
    let extracts = found.has('x');
    let mut folder: Option<&Word> = None;
    for (role, value) in &found.values {
        match role {
            Role::Guess if is_host_path(value.known_prefix()) => {}
            Role::Guess if creates => uses.write(value),
            Folder => {
                if extracts {
                    uses.write(value);
                }
                folder = Some(value);
            }
            Role::Edit => {
                uses.read(value);
                uses.write(value);
            }
            Out => uses.write(value),
            // Also the archive that is not made.
            _ => uses.read(value),
        }
    }
    if extracts && !found.has('O') {
        // Without `-P` it takes off a slash at the start and refuses `..`.
        let here = Word::Literal(".".to_owned());
        let several = found.of(Folder).count() > 1;
        match below_folder(folder.unwrap_or(&here)).filter(|_| !found.has('P') && !several) {
            Some(path) => uses.write(&path),
            None => uses.write_any(),
        }
    }
    if creates {
        for path in found.operands {
            match folder {
                Some(folder) => uses.read(&inside(folder, path)),
                None => uses.read(path),
            }
        }
    }
}

/// The old form `tar cfz A …`, spelled with dashes: each letter that takes a value takes the next
/// word.
fn bundled(args: &[Word]) -> Option<Vec<Word>> {
    let (first, rest) = args.split_first()?;
    let letters = first.literal().filter(|text| !text.starts_with('-'))?;
    let mut rest = rest.iter();
    let mut out = Vec::with_capacity(args.len() + 4);
    for letter in letters.chars() {
        if !letter.is_ascii_alphabetic() {
            continue;
        }
        let option = format!("-{letter}");
        out.push(Word::Literal(option));
        if "fCTXg".contains(letter) {
            out.extend(rest.next().cloned());
        } else if "bHLNKVIF".contains(letter) {
            rest.next();
        }
    }
    out.extend(rest.cloned());
    Some(out)
}

fn archive(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spec = match uses.name {
        "unzip" => {
            Spec::of(Operands::Read).short(&[("d", Folder), ("ltvpZ", Role::Keeps), ("PxO", Flag)])
        }
        "cpio" => Spec::of(Operands::None)
            .short(&[("ip", Note('x')), ("OF", Out), ("EI", In), ("D", Folder), ("HCRM", Value)])
            .long(&[("extract pass-through", Note('x')), ("file", Out), ("directory", Folder)]),
        "ar" => Spec::of(Operands::First).skip(1).long(&[("output", Folder)]),
        _ => Spec::of(Operands::First).skip(1).short(&[("o", Folder)]).style(Style::Alone),
    };
    let found = read(&spec, args);
    let verb = found.operands.first().map(|word| word.known_prefix()).unwrap_or_default();
    let (any, creates) = match uses.name {
        "unzip" => (!found.keeps, false),
        "cpio" => (found.has('x'), false),
        "ar" => (verb.contains('x') || verb.is_empty(), verb.contains(['r', 'q', 'd', 'm', 's'])),
        _ => (matches!(verb, "x" | "e" | ""), matches!(verb, "a" | "u" | "d" | "rn")),
    };
    uses.values(&found);
    if any {
        uses.write_any();
    }
    let files = found.files(&spec);
    if creates {
        uses.write_all(files.first().copied());
        uses.read_all(files.iter().skip(1).copied());
    } else {
        uses.read_all(files.first().copied());
    }
}

/// Writes files whose names begin with a prefix.
fn split(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let spec = Spec::of(Operands::None)
        .short(match uses.name {
            "csplit" => &[("f", Out), ("bn", Value)],
            _ => &[("lbnaCt", Value)],
        })
        .long(&[
            ("prefix", Out),
            ("lines bytes number suffix-length line-bytes separator", Value),
            ("additional-suffix filter suffix-format digits", Value),
        ]);
    let Found { operands, values, .. } = read(&spec, args);
    uses.read_all(operands.first().copied());
    let default = Word::Literal(if uses.name == "csplit" { "xx" } else { "x" }.to_owned());
    let prefix = match uses.name {
        "csplit" => values.first().map(|(_, value)| value.as_ref()),
        _ => operands.get(1).copied(),
    };
    let prefix = prefix.unwrap_or(&default);
    uses.write(prefix);
    let name = prefix.pieces().into_iter().chain(Word::one_of_any_text().pieces());
    uses.write(&super::joined(name));
}
