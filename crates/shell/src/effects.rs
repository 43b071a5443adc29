//! Which files a program writes and reads by its arguments.
//!
//! Owns: the table of everyday programs. Does not own: redirections (`walk`), paths' meaning: a path
//! is given as written.
//!
//! What is written errs on the side of too much: an option's value that looks like an operand is
//! listed too. What is read is only what is plain.

use crate::analysis::{By, Span};
use crate::tools::{option_values, short_values};
use crate::walk::Walker;
use crate::word::{Piece, Word};

struct Uses<'w, 'g> {
    walker: &'w mut Walker<'g>,
    name: &'w str,
    span: Span,
}

impl Uses<'_, '_> {
    fn write(&mut self, path: &Word) {
        self.walker.writes(path.clone(), By::Program(self.name.to_owned()), self.span);
    }

    fn read(&mut self, path: &Word) {
        self.walker.reads(path.clone(), By::Program(self.name.to_owned()), self.span);
    }

    fn write_all<'a>(&mut self, paths: impl IntoIterator<Item = &'a Word>) {
        for path in paths {
            self.write(path);
        }
    }

    fn read_all<'a>(&mut self, paths: impl IntoIterator<Item = &'a Word>) {
        for path in paths {
            self.read(path);
        }
    }

    /// It writes files that its arguments do not name.
    fn write_any(&mut self) {
        self.write(&Word::one_of_any_text());
    }
}

/// The words that are not options. `valued` are short options whose value is the next word.
fn operands<'a>(args: &'a [Word], valued: &[&str]) -> Vec<&'a Word> {
    let mut out = Vec::new();
    let mut only_operands = false;
    let mut skip = false;
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        let prefix = arg.known_prefix();
        if only_operands || !prefix.starts_with('-') || prefix == "-" {
            out.push(arg);
        } else if prefix == "--" {
            only_operands = true;
        } else {
            skip = arg.literal().is_some_and(|text| valued.contains(&text));
        }
    }
    out
}

fn has_option(args: &[Word], short: char, long: &str) -> bool {
    args.iter().any(|arg| {
        let text = arg.known_prefix();
        (!long.is_empty() && text.starts_with(long))
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(short))
    })
}

/// Notes the files a program uses.
pub(crate) fn uses(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    if args.is_empty() {
        return;
    }
    let mut uses = Uses { walker, name, span };
    match name {
        "tee" | "sponge" => uses.write_all(operands(args, &[])),
        "rm" | "rmdir" | "unlink" | "mkdir" | "mkfifo" | "mknod" | "srm" | "trash" | "rimraf" => {
            uses.write_all(operands(args, &["-m"]));
        }
        "touch" | "truncate" | "shred" | "fallocate" => {
            uses.write_all(operands(args, &["-r", "-d", "-t", "-s", "-n", "-l", "-o"]));
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "xattr" => {
            // `-x` is a mode, not an option; then the file is the first operand.
            let mode = args.iter().filter_map(Word::literal).any(|arg| {
                name == "chmod"
                    && arg.len() > 1
                    && arg.starts_with('-')
                    && arg.bytes().skip(1).all(|byte| b"rwxXstugo,+=-".contains(&byte))
                    && !arg.starts_with("--")
            });
            uses.write_all(operands(args, &[]).into_iter().skip(usize::from(!mode)));
        }
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" => {
            uses.write_all(operands(args, &["-o", "-S"]));
        }
        "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "nano" | "emacs" | "pico" => {
            uses.write_all(operands(args, &[]));
        }
        "cp" | "mv" | "ln" | "install" | "scp" | "rsync" | "ditto" | "rclone" => {
            let moves = name == "mv";
            copy(&mut uses, args, moves);
        }
        "dd" => {
            for arg in args {
                let prefix = arg.known_prefix();
                if prefix.starts_with("of=") {
                    uses.write(&arg.without_prefix(3));
                } else if prefix.starts_with("if=") {
                    uses.read(&arg.without_prefix(3));
                }
            }
        }
        "sed" | "gsed" => sed(&mut uses, args),
        "perl" | "ruby" => {
            if has_option(args, 'i', "") {
                uses.write_all(operands(args, &["-e", "-E"]));
            }
        }
        "patch" => {
            uses.write_all(operands(args, &["-i", "-p", "-d", "-o"]));
            uses.write_any();
        }
        "curl" | "wget" | "aria2c" => download(&mut uses, args),
        "tar" | "gtar" | "bsdtar" => tar(&mut uses, args),
        "unzip" | "7z" | "7za" | "unrar" | "cpio" | "ar" => uses.write_any(),
        "zip" => uses.write_all(operands(args, &[]).into_iter().take(1)),
        "sort" | "gsort" => {
            let out = option_values(args, &["-o", "--output"]);
            uses.write_all(&out);
            uses.read_all(operands(args, &["-o", "-k", "-t", "-S", "-T"]));
        }
        "split" | "csplit" => {
            uses.read_all(operands(args, &["-l", "-b", "-n", "-a"]).into_iter().take(1));
            uses.write_any();
        }
        "uniq" => {
            let paths = operands(args, &["-f", "-s", "-w"]);
            uses.read_all(paths.iter().take(1).copied());
            uses.write_all(paths.iter().skip(1).copied());
        }
        "find" | "gfind" => find(&mut uses, args),
        "git" => git(&mut uses, args),
        "awk" | "gawk" | "mawk" | "nawk" => {
            uses.read_all(operands(args, &["-F", "-v", "-f"]).into_iter().skip(1));
        }
        _ => reads(&mut uses, name, args),
    }
}

fn reads(uses: &mut Uses<'_, '_>, name: &str, args: &[Word]) {
    match name {
        "cat" | "tac" | "nl" | "less" | "more" | "most" | "bat" | "batcat" | "wc" | "strings"
        | "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum" | "sha512sum"
        | "b2sum" | "cksum" | "sum" | "shasum" | "base64" | "base32" | "xxd" | "od" | "hexdump"
        | "hd" | "diff" | "cmp" | "comm" | "join" | "paste" | "fold" | "fmt" | "pr" | "rev"
        | "column" | "expand" | "unexpand" | "tsort" | "iconv" | "zcat" | "bzcat" | "xzcat"
        | "zless" | "vimdiff" | "sdiff" | "colordiff" | "glow" | "mdcat" | "pygmentize"
        | "view" | "lp" | "xxh64sum" | "source-highlight" | "ssh-add" | "ssh-keygen" => {
            // A value that is taken for a file costs nothing; a file taken for a value is missed.
            uses.read_all(operands(args, &[]));
        }
        "head" | "tail" => uses.read_all(operands(args, &["-n", "-c", "-s", "--lines", "--bytes"])),
        "cut" => uses.read_all(operands(args, &["-d", "-f", "-c", "-b"])),
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" | "pcregrep" | "ggrep" => {
            // Only those short options that take a value in each of these programs.
            let valued = ["-e", "-f", "-A", "-B", "-C", "-m"];
            let pattern = usize::from(!args.iter().any(|arg| {
                let text = arg.known_prefix();
                text.starts_with("-e")
                    || text.starts_with("--regexp")
                    || text.starts_with("-f")
                    || text.starts_with("--files")
                    || text.starts_with("--file")
            }));
            uses.read_all(operands(args, &valued).into_iter().skip(pattern));
            let files = option_values(args, &["-f", "--file"]);
            uses.read_all(&files);
            uses.read_all(&short_values(args, 'f'));
        }
        "jq" | "yq" | "gojq" => {
            uses.read_all(operands(args, &["--arg", "--argjson", "-f"]).into_iter().skip(1));
        }
        "openssl" | "gpg" | "age" => {
            let files = option_values(args, &["-in", "-inkey", "-i", "--identity"]);
            uses.read_all(&files);
        }
        _ => {}
    }
}

fn copy(uses: &mut Uses<'_, '_>, args: &[Word], moves: bool) {
    let valued = [
        "-t",
        "-S",
        "-m",
        "-o",
        "-g",
        "-e",
        "-P",
        "-i",
        "-c",
        "-F",
        "-J",
        "-l",
        "--target-directory",
        "--rsh",
        "--exclude",
        "--include",
        "--suffix",
        "--mode",
        "--owner",
        "--group",
    ];
    // `-i`, `-c` and `-l` take a value with scp only.
    let valued: Vec<&str> = valued
        .into_iter()
        .filter(|option| {
            uses.name == "scp" || !matches!(*option, "-i" | "-c" | "-l" | "-F" | "-J" | "-P")
        })
        .filter(|option| uses.name == "install" || !matches!(*option, "-m" | "-o" | "-g"))
        .filter(|option| uses.name == "rsync" || *option != "-e")
        .collect();
    let paths = operands(args, &valued);
    let target = option_values(args, &["-t", "--target-directory"]);
    if let [folder] = target.as_slice()
        && !matches!(uses.name, "rsync" | "scp")
    {
        uses.write(folder);
        for path in &paths {
            uses.read(path);
            into_folder(uses, folder, path);
        }
        return;
    }
    let Some((last, sources)) = paths.split_last() else { return };
    if uses.name == "install" && has_option(args, 'd', "--directory") {
        uses.write_all(paths.iter().copied());
        return;
    }
    if sources.is_empty() && uses.name == "ln" {
        // The link gets the target's own name, here.
        into_folder(uses, &Word::Literal(".".to_owned()), last);
        uses.read(last);
        return;
    }
    uses.write(last);
    for source in sources {
        uses.read(source);
        if moves || args.iter().any(|arg| arg.known_prefix().starts_with("--remove-so")) {
            uses.write(source);
        }
        into_folder(uses, last, source);
    }
}

/// Where the target is a folder, the file inside it is what is written.
fn into_folder(uses: &mut Uses<'_, '_>, folder: &Word, source: &Word) {
    let (Some(folder), Some(source)) = (folder.literal(), source.literal()) else { return };
    let source = source.trim_end_matches('/');
    let name = source.rsplit('/').next().unwrap_or(source);
    if name.is_empty() || name == "." || name == ".." {
        return;
    }
    let path = format!("{}/{name}", folder.trim_end_matches('/'));
    uses.write(&Word::Literal(path));
}

fn sed(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let in_place = has_option(args, 'i', "--in-place");
    let scripted = args.iter().any(|arg| {
        let text = arg.known_prefix();
        text == "-e"
            || text == "-f"
            || text.starts_with("--expression")
            || text.starts_with("--file")
            || (text.starts_with('-')
                && !text.starts_with("--")
                && !text.starts_with("-i")
                && (text.ends_with('e') || text.ends_with('f')))
    });
    let paths = operands(args, &["-e", "-f", "-l", "-ne", "-Ee", "-re", "-nEe"]);
    let paths: Vec<&Word> = paths.into_iter().skip(usize::from(!scripted)).collect();
    if in_place {
        uses.write_all(paths.iter().copied());
    }
    uses.read_all(paths);
}

fn download(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let wget = uses.name != "curl";
    let names: &[&str] =
        if wget { &["-O", "--output-document", "-o"] } else { &["-o", "--output"] };
    let mut named = false;
    for path in option_values(args, names) {
        named = true;
        if path.literal() != Some("-") {
            uses.write(&path);
        }
    }
    for arg in args {
        // `-sSLo file` and `-qO- `: the last letter of a cluster.
        let Some(text) = arg.literal() else { continue };
        if text.starts_with('-') && !text.starts_with("--") && text.len() > 2 {
            let letter = if wget { 'O' } else { 'o' };
            if text.ends_with(letter) {
                let at = args.iter().position(|other| other == arg).unwrap_or_default();
                if let Some(path) = args.get(at + 1) {
                    named = true;
                    uses.write(path);
                }
            } else if wget && text.contains('O') {
                named = true;
            }
        }
    }
    let remote_name = if wget {
        !named && !args.iter().any(|arg| arg.literal() == Some("--spider"))
    } else {
        has_option(args, 'O', "--remote-name")
    };
    if remote_name {
        for url in operands(args, &["-H", "-X", "-d", "-u", "-A", "-e", "-o", "-P", "-U"]) {
            let known = !url.pieces().contains(&Piece::Any);
            let name = known.then(|| url.to_string()).map(|text| {
                let path = text.split(['?', '#']).next().unwrap_or(&text);
                path.rsplit('/').next().unwrap_or(path).to_owned()
            });
            match name {
                Some(name) if !name.is_empty() => uses.write(&Word::Literal(name)),
                _ => uses.write_any(),
            }
        }
    }
    let sent = option_values(
        args,
        &[
            "-d",
            "--data",
            "--data-binary",
            "--data-raw",
            "--data-urlencode",
            "-F",
            "--form",
            "--json",
            "-H",
        ],
    );
    for value in &sent {
        let prefix = value.known_prefix();
        if let Some(at) = prefix.find('@') {
            uses.read(&value.without_prefix(at + 1));
        } else if let Some(at) = prefix.find("=<") {
            uses.read(&value.without_prefix(at + 2));
        }
    }
    let files = option_values(
        args,
        &["-T", "--upload-file", "--post-file", "--body-file", "-K", "--config"],
    );
    uses.read_all(&files);
}

fn tar(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let mode = args.first().map(Word::known_prefix).unwrap_or_default().to_owned();
    let has = |letter: char, long: &str| {
        (!mode.starts_with("--") && mode.contains(letter)) || has_option(args, letter, long)
    };
    let paths = operands(args, &["-f", "-C", "--file", "--directory"]);
    if has('x', "--extract") || has('x', "--get") {
        uses.write_any();
    }
    if has('c', "--create") || has('r', "--append") || has('u', "--update") {
        // The archive is the word behind the letter `f`, wherever that stands.
        let archive = args.iter().position(|arg| {
            let text = arg.known_prefix();
            text.ends_with('f') && (text.starts_with('-') || text == mode)
        });
        match archive.and_then(|at| args.get(at + 1)) {
            Some(path) => uses.write(path),
            None => uses.write_any(),
        }
        uses.read_all(paths.into_iter().skip(usize::from(!mode.starts_with('-'))));
    }
}

fn find(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let prints = option_values(args, &["-fprint", "-fprint0", "-fprintf", "-fls"]);
    uses.write_all(&prints);
    if args.iter().any(|arg| arg.literal() == Some("-delete")) {
        for root in args.iter().take_while(|arg| !arg.known_prefix().starts_with(['-', '(', '!'])) {
            uses.write(root);
            if let Some(text) = root.literal() {
                uses.write(&below(text));
            }
        }
    }
}

/// Any path below a folder.
fn below(folder: &str) -> Word {
    let prefix = format!("{}/\u{0}", folder.trim_end_matches('/'));
    Word::Literal(prefix).with_hole("\u{0}")
}

fn git(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let mut at = 0;
    while let Some(text) = args.get(at).and_then(Word::literal).filter(|text| text.starts_with('-'))
    {
        at += if matches!(text, "-C" | "-c" | "--git-dir" | "--work-tree") { 2 } else { 1 };
    }
    let rest = args.get(at + 1..).unwrap_or_default();
    match args.get(at).and_then(Word::literal) {
        Some("checkout") => {
            if let Some(dashes) = rest.iter().position(|arg| arg.literal() == Some("--")) {
                uses.write_all(rest.get(dashes + 1..).unwrap_or_default());
            }
        }
        Some("restore" | "rm" | "clean") => {
            uses.write_all(operands(rest, &["-s", "--source", "-e"]));
        }
        Some("mv") => copy(uses, rest, true),
        Some(
            "apply" | "am" | "cherry-pick" | "merge" | "pull" | "rebase" | "reset" | "stash"
            | "switch",
        ) if !only_looks(rest) => {
            uses.write_any();
        }
        Some("config") => {
            let file = option_values(rest, &["-f", "--file"]);
            uses.write_all(&file);
        }
        _ => {}
    }
}

fn only_looks(args: &[Word]) -> bool {
    args.iter().any(|arg| matches!(arg.literal(), Some("--check" | "--stat" | "list" | "show")))
}
