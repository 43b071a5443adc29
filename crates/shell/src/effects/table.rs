//! The rows of programs: which option values and operands are files that are written or read.
//!
//! Owns: the data. Does not own: programs whose arguments need more than a row (`special`,
//! `download`, `git`).

use super::reader::{Operands, Role, Spec, Style};
use Operands::{Edit, First, Guess, Last, None as Nothing, Rest, Write};
use Role::{
    Changes, Flag, Folder, Keeps, Read as In, Stands, StandsRead, Text, Value, Write as Out,
};

const READS: Spec = Spec::of(Operands::Read);
const WRITES: Spec = Spec::of(Write);
const EDITS: Spec = Spec::of(Edit);
const GUESSES: Spec = Spec::of(Guess);
/// Programs whose operands are no files, and whose `-o` names a format or nothing.
const WORDS: Spec = Spec::of(Nothing).short(&[("o", Value)]).long(&[("output", Value)]);

/// The row of a program.
pub(super) fn spec(name: &str) -> Option<Spec> {
    let tables = [plain, readers, scripted, changers, compilers, services, tools];
    tables.iter().find_map(|table| table(name))
}

/// Programs that look at no file by their arguments.
fn plain(name: &str) -> Option<Spec> {
    Some(match name {
        "echo" | "printf" | "true" | "false" | ":" | "test" | "[" | "kill" | "pkill"
        | "killall" | "pgrep" | "sleep" | "seq" | "expr" | "yes" | "basename" | "dirname"
        | "realpath" | "readlink" | "pwd" | "cd" | "pushd" | "popd" | "ls" | "dir" | "stat"
        | "tree" | "which" | "whereis" | "type" | "whoami" | "id" | "uname" | "hostname" | "tr"
        | "return" | "exit" | "shift" | "wait" | "read" | "let" | "unset" | "umask" | "ulimit"
        | "getopts" | "bc" | "factor" | "numfmt" | "tput" | "clear" | "logname" | "groups"
        | "nproc" | "arch" | "uptime" | "cal" | "getopt" | "chsh" => Spec::of(Nothing),
        "ps" | "top" | "htop" | "lsblk" | "findmnt" | "journalctl" | "systemctl" | "loginctl"
        | "ss" | "netstat" | "lscpu" | "lsns" | "lsmem" | "mvn" | "gradle" | "apt" | "apt-get"
        | "apt-cache" | "brew" | "dnf" | "yum" | "apk" | "pacman" | "snap" | "npm" | "pnpm"
        | "yarn" | "npx" | "cargo" | "rustup" | "gem" | "bundle" | "uv" | "poetry" | "ping"
        | "nslookup" | "host" | "lsof" | "free" | "df" | "dbus-send" | "useradd" | "usermod"
        | "groupadd" | "xdotool" | "notify-send" | "say" | "service" | "launchctl" | "just"
        | "telnet" | "mosh" | "tmux" | "screen" => WORDS
            .long(&[("output", Value), ("env-file envfile dotenv file files0-from values", In)]),
        _ => return None,
    })
}

/// Programs that read their operands.
fn readers(name: &str) -> Option<Spec> {
    Some(match name {
        "cat" | "tac" | "nl" | "more" | "most" | "bat" | "batcat" | "strings" | "base32" | "od"
        | "hexdump" | "hd" | "diff" | "cmp" | "comm" | "join" | "paste" | "fold" | "fmt" | "pr"
        | "rev" | "column" | "expand" | "unexpand" | "tsort" | "zcat" | "bzcat" | "xzcat"
        | "zless" | "vimdiff" | "colordiff" | "mdcat" | "view" | "lp" | "lpr" | "xxh64sum"
        | "source-highlight" | "ssh-add" | "look" | "basenc" | "diff3" | "zdiff" | "delta"
        | "zmore" | "lzcat" | "zstdcat" | "zstdless" | "cksum" | "sum" | "hexyl" | "ptx"
        | "jless" | "csvlook" | "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum"
        | "sha512sum" | "b2sum" | "shasum" | "md5" | "b3sum" => READS,
        // What they cannot make sense of, they show.
        "date" | "gdate" => {
            Spec::of(Nothing).short(&[("f", In), ("dsI", Value)]).long(&[("file", In)])
        }
        "dig" => Spec::of(Nothing).style(Style::Alone).short(&[("fk", In), ("bcpqtxy", Value)]),
        "ip" => Spec::of(Nothing).style(Style::OneDash).long(&[("b ba bat batch", In)]),
        "make" | "gmake" => Spec::of(Nothing)
            .short(&[("f", In), ("CIjloW", Value)])
            .long(&[("file makefile", In), ("directory output-sync jobs", Value)]),
        "wc" => READS.long(&[("files0-from", In)]),
        "du" => Spec::of(Nothing).short(&[("X", In)]).long(&[("files0-from exclude-from", In)]),
        "file" => Spec::of(Nothing).short(&[("fm", In)]).long(&[("files-from magic-file", In)]),
        "less" => READS.short(&[("oO", Out), ("bhjkpPtTxyz", Value)]).long(&[("log-file", Out)]),
        "base64" | "iconv" | "sdiff" | "pygmentize" | "glow" | "pv" | "shuf" | "recode" => {
            READS.short(&[("o", Out)]).long(&[("output output-file", Out)])
        }
        "head" | "tail" => {
            READS.short(&[("ncs", Value)]).long(&[("lines bytes sleep-interval pid", Value)])
        }
        "cut" => READS
            .short(&[("dfcb", Value)])
            .long(&[("delimiter fields characters bytes output-delimiter", Value)]),
        "sort" | "gsort" => READS.short(&[("o", Out), ("kStT", Value)]).long(&[
            ("output", Out),
            ("files0-from random-source", In),
            ("key field-separator buffer-size temporary-directory parallel", Value),
            ("batch-size compress-program sort", Value),
        ]),
        "uniq" => Spec::of(Rest)
            .short(&[("fsw", Value)])
            .long(&[("skip-fields skip-chars check-chars", Value)]),
        "xxd" => Spec::of(Rest).short(&[("clsgonR", Value)]).style(Style::Alone),
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" | "pcregrep" | "ggrep"
        | "ugrep" => READS
            // Only those short options that take a value in each of these programs.
            .short(&[("e", Stands), ("f", StandsRead), ("ABCm", Value)])
            .long(&[
                ("regexp", Stands),
                ("file", StandsRead),
                ("files", Stands),
                ("files-with-matches files-without-match", Flag),
                ("exclude-from ignore-file", In),
                ("context after-context before-context max-count include exclude", Value),
                ("exclude-dir label glob iglob type type-not max-depth threads", Value),
            ])
            .skip(1),
        _ => return None,
    })
}

/// Programs that read files by a script, a pattern or a key.
fn scripted(name: &str) -> Option<Spec> {
    Some(match name {
        "jq" | "gojq" | "jaq" => READS
            .short(&[("f", StandsRead), ("L", In)])
            .long(&[("from-file", StandsRead), ("arg argjson", Value), ("args jsonargs", Flag)])
            .skip(1),
        "yq" => READS
            .short(&[("i", Changes), ("oIp", Value)])
            .long(&[
                ("inplace in-place", Changes),
                ("from-file", StandsRead),
                ("arg argjson output-format input-format indent", Value),
            ])
            .skip(1),
        "awk" | "gawk" | "mawk" | "nawk" => READS
            .short(&[("Fv", Value), ("f", StandsRead), ("i", In), ("E", StandsRead)])
            .long(&[
                ("file exec", StandsRead),
                ("include load", In),
                ("field-separator assign", Value),
            ])
            .skip(1),
        "perl" | "ruby" => {
            READS.short(&[("eE", Stands), ("i", Changes), ("IMmFC", Value), ("x", Flag)]).skip(1)
        }
        "sed" | "gsed" => READS
            .short(&[("e", Stands), ("f", StandsRead), ("i", Changes), ("l", Value)])
            .long(&[
                ("expression", Stands),
                ("file", StandsRead),
                ("in-place", Changes),
                ("line-length", Value),
            ])
            .skip(1),
        "age" | "rage" => READS.short(&[("o", Out), ("iR", In), ("r", Value)]).long(&[
            ("output", Out),
            ("identity recipients-file", In),
            ("recipient", Value),
        ]),
        "gpg" | "gpg2" => READS.short(&[("o", Out), ("ur", Value)]).long(&[
            ("output logger-file export-ownertrust-file", Out),
            ("passphrase-file options keyring secret-keyring", In),
            ("local-user recipient passphrase homedir", Value),
            ("options-file", In),
        ]),
        "ansible-vault" => READS.skip(1).long(&[
            ("vault-password-file vault-pass-file new-vault-password-file", In),
            ("output", Out),
        ]),
        "openssl" => GUESSES.style(Style::OneDash).skip(1).long(&[
            ("out keyout writerand sigfile-out CAserial", Out),
            ("in inkey key CAfile CAkey cert certfile config extfile signkey", In),
            ("sign verify prverify signature rand kfile content recip", In),
            ("pass passin passout", Text),
            ("subj days md name inform outform", Value),
        ]),
        _ => return None,
    })
}

/// Programs that change their operands.
fn changers(name: &str) -> Option<Spec> {
    Some(match name {
        "tee" | "sponge" => WRITES.long(&[("output-error", Flag)]),
        "rm" | "rmdir" | "unlink" | "srm" | "trash" | "trash-put" | "rimraf" => WRITES,
        "mkdir" | "mkfifo" | "mknod" => WRITES.short(&[("m", Value)]).long(&[("mode", Value)]),
        "touch" => WRITES.short(&[("rdtA", Value)]).long(&[("reference date time", Value)]),
        "truncate" => WRITES.short(&[("rs", Value)]).long(&[("reference size", Value)]),
        "shred" => WRITES
            .short(&[("ns", Value)])
            .long(&[("iterations size", Value), ("random-source", In)]),
        "fallocate" => WRITES.short(&[("lo", Value)]).long(&[("length offset", Value)]),
        "mktemp" => WRITES.short(&[("p", Folder)]).long(&[("tmpdir", Folder), ("suffix", Value)]),
        "chown" | "chgrp" => WRITES.long(&[("reference", Stands), ("from", Value)]).skip(1),
        "xattr" => WRITES.skip(1),
        "setfacl" => WRITES.short(&[("mx", Value), ("MX", In)]).long(&[
            ("modify remove", Value),
            ("remove-all remove-default", Flag),
            ("set", Value),
            ("modify-file remove-file set-file restore", In),
        ]),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "lz4"
        | "lzma" | "unlzma" | "pigz" | "pbzip2" | "brotli" | "compress" | "uncompress" => {
            EDITS.short(&[("o", Out), ("SMTF", Value), ("clt", Keeps), ("D", In)]).long(&[
                ("stdout to-stdout list test", Keeps),
                ("suffix", Value),
                ("files files0", In),
            ])
        }
        "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "gvim" | "nano" | "emacs" | "emacsclient"
        | "pico" | "micro" | "hx" | "helix" | "kak" | "joe" | "code" | "subl" | "sqlite3"
        | "dos2unix" | "unix2dos" | "sudoedit" | "visudo" | "crontab" | "mcedit" => EDITS
            .short(&[("cuTti", Value), ("Ss", In), ("wW", Out), ("lr", Keeps)])
            .style(Style::Alone),
        "black" | "rustfmt" | "isort" | "autopep8" | "standard" => {
            EDITS.short(&[("lt", Value)]).long(&[
                ("check diff", Keeps),
                ("line-length target-version edition emit", Value),
                ("config config-path", In),
            ])
        }
        "prettier" | "eslint" | "gofmt" | "goimports" | "gofumpt" | "shfmt" | "clang-format"
        | "biome" | "ruff" | "stylelint" | "taplo" | "nixpkgs-fmt" | "yapf" | "jscodeshift" => {
            READS.short(&[("w", Changes), ("i", Changes), ("o", Out), ("cr", Value)]).long(&[
                ("write fix in-place inplace fix-dry-run apply", Changes),
                ("output-file", Out),
                ("config ignore-path", In),
            ])
        }
        "mkswap" | "wipefs" | "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "mkfs"
        | "mke2fs" | "tune2fs" | "fsck" | "e2fsck" | "blkdiscard" | "newfs" | "resize2fs"
        | "cryptsetup" | "losetup" | "pvcreate" | "badblocks" | "mkntfs" => {
            WRITES.short(&[("tLUo", Value)])
        }
        "parted" => Spec::of(First),
        "patch" => Spec::of(First).short(&[("or", Out), ("i", In), ("pdBzFDYgV", Value)]).long(&[
            ("output reject-file", Out),
            ("input", In),
            ("strip directory fuzz prefix suffix ifdef", Value),
        ]),
        "rename" | "prename" => Spec::of(Write).short(&[("e", Stands)]).skip(1),
        "zip" => Spec::of(First).short(&[("O", Out), ("P", Value), ("tnb", Value)]).long(&[
            ("output-file", Out),
            ("password", Value),
            ("exclude include", Flag),
        ]),
        "ffmpeg" => Spec::of(Last)
            .style(Style::OneDash)
            .long(&[("i", In), ("f c vf af map ss t r b preset crf", Value)]),
        "convert" | "magick" | "rsvg-convert" | "cwebp" => {
            Spec::of(Last).style(Style::OneDash).long(&[("o", Out)])
        }
        _ if name.starts_with("mkfs.") || name.starts_with("fsck.") => {
            WRITES.short(&[("tLUo", Value)])
        }
        _ => return None,
    })
}

/// Compilers.
fn compilers(name: &str) -> Option<Spec> {
    Some(match name {
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "ld" | "lld" | "ld.lld" | "gold"
        | "mold" | "as" | "rustc" | "nasm" | "tcc" | "ghc" | "nvcc" | "gfortran" | "objcopy"
        | "strip" | "swiftc" | "dmd" | "ldc2" => {
            READS.style(Style::Alone).short(&[("o", Out), ("xCLWAFIDUlTR", Value)]).long(&[
                ("output", Out),
                ("out-dir", Out),
                ("cfg edition crate-type crate-name emit target extern", Value),
            ])
        }
        "go" => GUESSES.style(Style::OneDash).skip(1).long(&[
            ("o coverprofile cpuprofile memprofile blockprofile trace outputdir", Out),
            ("modfile overlay pgo", In),
            ("C ldflags gcflags tags run bench exec", Value),
        ]),
        _ => return None,
    })
}

/// Programs that talk to a service.
fn services(name: &str) -> Option<Spec> {
    Some(match name {
        "http" | "https" | "xh" | "xhs" => Spec::of(Operands::Guess)
            .short(&[("o", Out), ("aA", Value)])
            .long(&[("output", Out), ("auth auth-type session", Value), ("cert cert-key", In)]),
        "helm" => GUESSES.short(&[("f", In), ("no", Value)]).long(&[
            ("values kubeconfig", In),
            ("set-file", Role::Guess),
            ("output-dir", Out),
            ("namespace output version set set-string kube-context", Value),
        ]),
        "gh" | "glab" => GUESSES.short(&[("fFm", Role::Guess), ("tbRBHlaLqD", Value)]).long(&[
            ("body-file notes-file env-file input field template", Role::Guess),
            ("title body repo base head label assignee jq json message notes", Value),
        ]),
        "az" => GUESSES.short(&[("f", In), ("nglo", Value)]).long(&[
            ("file source template-file", In),
            ("output name resource-group query location", Value),
        ]),
        "gcloud" => GUESSES.long(&[
            ("data-file env-vars-file flags-file key-file", In),
            ("format project zone region filter", Value),
        ]),
        _ => return None,
    })
}

/// Network programs, wrappers and the rest.
fn tools(name: &str) -> Option<Spec> {
    Some(match name {
        "pandoc" => READS.short(&[("o", Out), ("frtwVMc", Value), ("dHBA", In)]).long(&[
            ("output extract-media log", Out),
            ("from to read write variable metadata", Value),
            ("defaults metadata-file template include-in-header bibliography", In),
        ]),
        "tcpdump" | "tshark" => {
            Spec::of(Nothing).short(&[("w", Out), ("rF", In), ("icsCGWyzZDTE", Value)])
        }
        "ssh-keygen" => READS.short(&[("f", Role::Edit), ("tbCNPmnVzIOFRr", Value), ("sD", In)]),
        "ssh" | "slogin" | "autossh" => Spec::of(Nothing).style(Style::Stops).short(&[
            ("iF", In),
            ("E", Out),
            ("o", Role::Guess),
            ("BbcDeILlmOpPQRSWwJ", Value),
        ]),
        "ssh-copy-id" => Spec::of(Nothing).short(&[("iF", In), ("op", Value)]),
        "nc" | "ncat" | "netcat" => Spec::of(Nothing)
            .short(&[("o", Out), ("pswxXiIOT", Value)])
            .long(&[("output hex-dump", Out), ("ssl-cert ssl-key ssl-trustfile", In)]),
        "kubectl" | "oc" | "k3s" => {
            Spec::of(Nothing).short(&[("fk", In), ("onlc", Value)]).long(&[
                ("filename kustomize kubeconfig from-env-file patch-file values", In),
                ("from-file", Role::Guess),
                ("output namespace selector container context output-watch-events", Value),
            ])
        }
        "docker" | "podman" | "nerdctl" | "docker-compose" => {
            Spec::of(Nothing).short(&[("o", Out), ("f", In), ("evpuwhlct", Value)]).long(&[
                ("env-file label-file file kubeconfig", In),
                ("output iidfile cidfile metadata-file", Out),
                ("secret", Role::Guess),
                ("env volume publish user workdir hostname name tag build-arg mount label", Value),
            ])
        }
        "ansible-playbook" | "ansible" => READS.short(&[("ie", Role::Guess)]).long(&[
            ("inventory extra-vars", Role::Guess),
            ("vault-password-file private-key key-file", In),
        ]),
        "pip" | "pip3" | "pipx" => {
            Spec::of(Nothing).short(&[("td", Out), ("rc", In), ("ife", Role::Guess)]).long(&[
                ("target root prefix dest src wheel-dir download-cache log report", Out),
                ("requirement constraint", In),
            ])
        }
        "wipe" => WRITES,
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "mksh" | "fish" => {
            GUESSES.short(&[("oOc", Value)]).long(&[("rcfile init-file", In)])
        }
        "node" | "nodejs" | "bun" | "deno" | "php" | "lua" | "julia" | "Rscript" | "osascript" => {
            GUESSES.short(&[("eprE", Value)]).long(&[("eval print", Value), ("env-file", In)])
        }
        _ if name.starts_with("python") || name.starts_with("pypy") => {
            GUESSES.short(&[("cmWX", Value)])
        }
        // Wrappers: what they start is looked at by itself.
        "time" | "gtime" => Spec::of(Nothing)
            .style(Style::Stops)
            .short(&[("o", Out), ("f", Value)])
            .long(&[("output", Out), ("format", Value)]),
        "strace" | "ltrace" | "dtruss" | "perf" => Spec::of(Nothing)
            .style(Style::Stops)
            .short(&[("o", Out), ("eEpsuaPSOIXbA", Value)])
            .long(&[("output", Out), ("trace signal attach user expr", Value)]),
        "env" | "genv" => Spec::of(Nothing)
            .style(Style::Stops)
            .short(&[("f", In), ("uCSP", Value)])
            .long(&[("file", In), ("unset chdir split-string argv0", Value)]),
        "dotenv" => Spec::of(Nothing)
            .style(Style::Stops)
            .short(&[("fe", In), ("c", Value)])
            .long(&[("file env-file env", In)]),
        "xargs" | "gxargs" => {
            Spec::of(Nothing).style(Style::Stops).short(&[("a", In), ("IEdLnPsR", Value)]).long(&[
                ("arg-file", In),
                ("replace eof delimiter max-lines max-args max-procs max-chars", Value),
            ])
        }
        "parallel" => Spec::of(Nothing)
            .style(Style::Stops)
            .short(&[("a", In), ("jIdnNLPsES", Value)])
            .long(&[("arg-file env-file sshloginfile slf", In), ("joblog results", Out)]),
        _ => return None,
    })
}
