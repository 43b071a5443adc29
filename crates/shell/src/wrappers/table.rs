//! The programs that start their arguments, and how their options are written.

use crate::options::Spec;

pub(super) const fn spec(flags: &'static str, valued: &'static str) -> Spec {
    Spec { flags, valued, ..Spec::PLAIN }
}

pub(super) const DOCKER_EXEC: Spec = Spec {
    flags: "dit",
    valued: "euw",
    long: &["detach", "interactive", "tty", "privileged", "no-TTY"],
    long_valued: &["env", "env-file", "user", "workdir", "index", "detach-keys"],
    skip: 1,
    assigns: false,
};

pub(super) const DOCKER_RUN: Spec = Spec {
    flags: "ditPq",
    valued: "evpwuhlmca",
    long: &[
        "rm",
        "detach",
        "interactive",
        "tty",
        "init",
        "privileged",
        "read-only",
        "publish-all",
        "no-deps",
        "build",
        "quiet",
        "service-ports",
        "no-TTY",
    ],
    long_valued: &[
        "name",
        "env",
        "volume",
        "publish",
        "workdir",
        "user",
        "network",
        "net",
        "mount",
        "env-file",
        "hostname",
        "label",
        "memory",
        "cpus",
        "platform",
        "restart",
        "add-host",
        "cap-add",
        "cap-drop",
        "device",
        "dns",
        "gpus",
        "ipc",
        "link",
        "pid",
        "pull",
        "shm-size",
        "tmpfs",
        "ulimit",
        "userns",
        "volumes-from",
        "security-opt",
        "expose",
        "group-add",
    ],
    skip: 1,
    assigns: false,
};

/// How a program is written that starts another.
pub(super) const WRAPPERS: &[(&[&str], Spec)] = &[
    (&["nohup", "fakeroot", "chronic", "eatmydata", "catchsegv", "builtin", "winpty"], Spec::PLAIN),
    (&["torsocks", "tsocks", "firejail", "noglob", "nocorrect"], Spec::PLAIN),
    (&["dbus-run-session"], Spec::PLAIN),
    (&["gosu", "su-exec", "setarch"], Spec { skip: 1, ..Spec::PLAIN }),
    (&["linux32", "linux64", "i386", "x86_64", "uname26"], spec("vRFZLXBISTh3", "")),
    (&["proxychains", "proxychains4"], spec("q", "f")),
    (&["unbuffer"], spec("p", "")),
    (&["exec"], spec("cl", "a")),
    (&["setsid"], Spec { flags: "cfw", long: &["ctty", "fork", "wait"], ..Spec::PLAIN }),
    (
        &["stdbuf"],
        Spec { valued: "ioe", long_valued: &["input", "output", "error"], ..Spec::PLAIN },
    ),
    (
        &["nice", "gnice"],
        Spec { flags: "0123456789-", valued: "n", long_valued: &["adjustment"], ..Spec::PLAIN },
    ),
    (
        &["ionice"],
        Spec {
            flags: "t",
            valued: "cn",
            long: &["ignore"],
            long_valued: &["class", "classdata"],
            ..Spec::PLAIN
        },
    ),
    (&["taskset"], Spec { flags: "ac", long: &["all-tasks", "cpu-list"], skip: 1, ..Spec::PLAIN }),
    (&["chrt"], Spec { flags: "abdfioRr", skip: 1, ..Spec::PLAIN }),
    (&["caffeinate"], spec("dimsu", "tw")),
    (
        &["time", "gtime"],
        Spec {
            flags: "pvaqlh",
            valued: "fo",
            long: &["portability", "verbose", "append", "quiet"],
            long_valued: &["format", "output"],
            ..Spec::PLAIN
        },
    ),
    (
        &["timeout", "gtimeout"],
        Spec {
            flags: "vfp",
            valued: "ks",
            long: &["foreground", "preserve-status", "verbose"],
            long_valued: &["kill-after", "signal"],
            skip: 1,
            ..Spec::PLAIN
        },
    ),
    (&["doas"], Spec { flags: "n", valued: "aCu", assigns: false, ..Spec::PLAIN }),
    (
        &["pkexec"],
        Spec {
            long: &["disable-internal-agent", "keep-cwd"],
            long_valued: &["user"],
            ..Spec::PLAIN
        },
    ),
    (
        &["chroot"],
        Spec {
            long: &["skip-chdir"],
            long_valued: &["userspec", "groups"],
            skip: 1,
            ..Spec::PLAIN
        },
    ),
    (
        &["unshare"],
        Spec {
            flags: "muinpUCTfr",
            long: &["fork", "map-root-user", "net", "mount", "pid", "user"],
            ..Spec::PLAIN
        },
    ),
    (
        &["strace", "ltrace"],
        Spec {
            flags: "cCdfFhiqrtTvxyYnDkwZz",
            valued: "eopsSuaEPIbOX",
            long: &["follow-forks"],
            ..Spec::PLAIN
        },
    ),
    (
        &["xvfb-run"],
        Spec {
            flags: "al",
            valued: "efnpsw",
            long: &["auto-servernum"],
            long_valued: &["server-args", "server-num"],
            ..Spec::PLAIN
        },
    ),
    (
        &["systemd-run"],
        Spec {
            flags: "GPqdrSt",
            valued: "pMHuE",
            long: &[
                "scope",
                "user",
                "system",
                "wait",
                "pty",
                "pipe",
                "quiet",
                "collect",
                "no-block",
                "remain-after-exit",
            ],
            long_valued: &[
                "unit",
                "property",
                "description",
                "slice",
                "uid",
                "gid",
                "setenv",
                "working-directory",
            ],
            ..Spec::PLAIN
        },
    ),
    (
        &["valgrind"],
        Spec {
            flags: "vq",
            long: &[
                "leak-check",
                "error-exitcode",
                "tool",
                "track-origins",
                "quiet",
                "suppressions",
                "show-leak-kinds",
            ],
            ..Spec::PLAIN
        },
    ),
    (
        &["npx", "bunx", "pnpx"],
        Spec {
            flags: "yq",
            valued: "p",
            long: &["yes", "no-install", "no", "quiet", "bun"],
            long_valued: &["package"],
            ..Spec::PLAIN
        },
    ),
    (
        &["uvx"],
        Spec {
            flags: "qvn",
            valued: "p",
            long: &["isolated", "offline", "quiet"],
            long_valued: &["from", "with", "python"],
            ..Spec::PLAIN
        },
    ),
    (&["busybox", "toybox"], Spec::PLAIN),
    (&["systemd-cat"], spec("", "tp")),
    (&["choom"], Spec { flags: "", valued: "np", long_valued: &["adjust", "pid"], ..Spec::PLAIN }),
    (
        &["cpulimit"],
        Spec {
            flags: "mvzfq",
            valued: "lcs",
            long: &["foreground", "include-children", "lazy", "verbose"],
            long_valued: &["limit", "cpu"],
            ..Spec::PLAIN
        },
    ),
    (&["logsave"], Spec { flags: "as", skip: 1, ..Spec::PLAIN }),
    (
        &["systemd-inhibit"],
        Spec {
            long: &["no-pager", "no-legend"],
            long_valued: &["what", "who", "why", "mode"],
            ..Spec::PLAIN
        },
    ),
    (
        &["run0"],
        Spec {
            valued: "ugD",
            long: &["no-ask-password", "pipe", "pty"],
            long_valued: &["user", "group", "chdir", "nice", "unit", "property", "setenv", "slice"],
            ..Spec::PLAIN
        },
    ),
];

/// Programs whose subcommand starts another.
pub(super) const SUBCOMMANDS: &[(&[&str], &[&str], Spec)] = &[
    (
        &["perf"],
        &["stat"],
        Spec {
            flags: "advni",
            valued: "erIox",
            long: &["detailed", "verbose", "null", "all-cpus", "append"],
            long_valued: &["event", "repeat", "output", "interval-print", "field-separator"],
            ..Spec::PLAIN
        },
    ),
    (
        &["perf"],
        &["record"],
        Spec {
            flags: "agvqS",
            valued: "eFoc",
            long: &["all-cpus", "verbose", "quiet"],
            long_valued: &["event", "freq", "output", "call-graph", "count"],
            ..Spec::PLAIN
        },
    ),
    (&["perf"], &["trace"], Spec { flags: "asv", valued: "eo", long: &["summary"], ..Spec::PLAIN }),
    (&["ip"], &["netns", "exec"], Spec { skip: 1, ..Spec::PLAIN }),
    (&["ip"], &["vrf", "exec"], Spec { skip: 1, ..Spec::PLAIN }),
    (&["asdf"], &["exec"], Spec::PLAIN),
    (&["uv"], &["tool", "run"], Spec { long_valued: &["from", "with", "python"], ..Spec::PLAIN }),
    (&["poetry", "pipenv", "pdm", "rye", "hatch"], &["run"], Spec::PLAIN),
    (&["bundle"], &["exec"], Spec { long: &["keep-file-descriptors"], ..Spec::PLAIN }),
    (
        &["uv"],
        &["run"],
        Spec {
            flags: "qvnU",
            valued: "pm",
            long: &[
                "frozen",
                "no-sync",
                "isolated",
                "locked",
                "offline",
                "no-project",
                "all-extras",
                "dev",
                "no-dev",
                "quiet",
                "verbose",
                "all-groups",
                "active",
                "script",
                "exact",
            ],
            long_valued: &[
                "with",
                "extra",
                "group",
                "python",
                "project",
                "directory",
                "env-file",
                "package",
                "with-requirements",
            ],
            ..Spec::PLAIN
        },
    ),
    (
        &["npm", "pnpm", "yarn"],
        &["exec"],
        Spec { flags: "y", long: &["yes", "silent"], long_valued: &["package"], ..Spec::PLAIN },
    ),
    (
        &["pnpm", "yarn"],
        &["dlx"],
        Spec { flags: "q", valued: "p", long_valued: &["package"], ..Spec::PLAIN },
    ),
    (&["pipx"], &["run"], Spec { long_valued: &["spec", "python"], ..Spec::PLAIN }),
    (
        &["conda", "mamba", "micromamba"],
        &["run"],
        Spec {
            flags: "v",
            valued: "np",
            long: &["no-capture-output", "live-stream"],
            long_valued: &["name", "prefix", "cwd"],
            ..Spec::PLAIN
        },
    ),
    (&["rustup"], &["run"], Spec { long: &["install"], skip: 1, ..Spec::PLAIN }),
    (&["direnv"], &["exec"], Spec { skip: 1, ..Spec::PLAIN }),
    (
        &["oc"],
        &["rsh"],
        Spec {
            valued: "cn",
            long_valued: &["container", "namespace", "shell"],
            skip: 1,
            ..Spec::PLAIN
        },
    ),
    (
        &["heroku"],
        &["run"],
        Spec { valued: "asrf", long_valued: &["app", "size", "remote", "env"], ..Spec::PLAIN },
    ),
    (&["docker", "podman", "nerdctl"], &["container", "exec"], DOCKER_EXEC),
    (&["docker", "podman", "nerdctl"], &["container", "run"], DOCKER_RUN),
    (&["docker", "podman", "nerdctl"], &["exec"], DOCKER_EXEC),
    (&["docker", "podman", "nerdctl"], &["run"], DOCKER_RUN),
    (&["docker", "podman"], &["compose", "exec"], Spec { flags: "ditT", ..DOCKER_EXEC }),
    (&["docker", "podman"], &["compose", "run"], Spec { flags: "diTPtq", ..DOCKER_RUN }),
    (&["docker-compose"], &["exec"], Spec { flags: "ditT", ..DOCKER_EXEC }),
    (&["docker-compose"], &["run"], Spec { flags: "diTPtq", ..DOCKER_RUN }),
];

/// Options that stand before the subcommand.
pub(super) const FRONT: &[(&[&str], Spec)] = &[
    (
        &["npm", "pnpm", "yarn"],
        Spec {
            flags: "rsw",
            valued: "FC",
            long: &["recursive", "silent", "workspaces", "workspace-root", "parallel", "stream"],
            long_valued: &["filter", "dir", "cwd", "prefix", "workspace", "loglevel"],
            ..Spec::PLAIN
        },
    ),
    (
        &["docker", "podman", "nerdctl"],
        Spec {
            flags: "D",
            valued: "cHl",
            long: &["debug", "tls"],
            long_valued: &["context", "host", "log-level", "config"],
            ..Spec::PLAIN
        },
    ),
];

/// Programs that start what stands behind `--`.
pub(super) const BEHIND_DASHES: &[(&str, &[&str])] = &[
    ("kubectl", &["exec", "run", "debug"]),
    ("oc", &["exec", "run", "debug"]),
    ("mise", &["exec", "x"]),
    ("op", &["run"]),
    ("doppler", &["run"]),
    ("aws-vault", &["exec"]),
    ("dotenvx", &["run"]),
    ("infisical", &["run"]),
    ("gcloud", &["ssh"]),
    ("jj", &["exec"]),
];

/// Programs that start others in ways that are not read here: what they start is unknown.
pub(super) const UNREAD: &[&str] = &[
    "setpriv",
    "coreutils",
    "please",
    "pdsh",
    "clush",
    "capsh",
    "prlimit",
    "numactl",
    "cgexec",
    "nsenter",
    "bwrap",
    "proot",
    "faketime",
    "sshpass",
    "sem",
    "rlwrap",
    "dtach",
    "abduco",
    "lxc",
    "multipass",
    "adb",
    "wsl",
    "pssh",
    "ansible",
    "apptainer",
    "singularity",
    "flatpak",
    "distrobox",
    "toolbox",
    "crictl",
    "buildah",
    "start-stop-daemon",
    "daemonize",
    "dumb-init",
    "tini",
    "chpst",
    "xterm",
    "gnome-terminal",
    "konsole",
    "x-terminal-emulator",
    "setlock",
    "run-parts",
    "envdir",
    "softlimit",
    "pfexec",
    "machinectl",
    "systemd-nspawn",
    "criu",
    "launchctl",
    "schroot",
    "fakechroot",
    "salt",
    "salt-call",
    "salt-ssh",
    "parallel-ssh",
    "dsh",
    "mco",
];
