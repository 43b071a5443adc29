//! A hook program that does what its arguments say, one word after the other. The words are
//! documented at `tenter_testkit::scripted_hook`.

#![forbid(unsafe_code)]

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process, setsid};

/// No test lasts as long; what a failed test left behind ends all the same.
const HANG: Duration = Duration::from_mins(5);

/// What cannot be done as told.
type Problem = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match perform(&words) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            let _ = writeln!(io::stderr(), "scripted hook: {problem}");
            ExitCode::from(99)
        }
    }
}

fn perform(words: &[String]) -> Result<u8, Problem> {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or_else(|| format!("`{word}` lacks an argument"));
        match word {
            "read-stdin" => drop(read_stdin()?),
            "read-stdin-to" => publish(next()?, &read_stdin()?)?,
            "echo-stdin" => {
                io::copy(&mut io::stdin(), &mut io::stdout())?;
            }
            "close-stdin" => close(0)?,
            "close-output" => {
                close(1)?;
                close(2)?;
            }
            "out" => write_all(&mut io::stdout(), next()?.as_bytes())?,
            "err" => write_all(&mut io::stderr(), next()?.as_bytes())?,
            "out-hex" => write_all(&mut io::stdout(), &bytes_from_hex(next()?)?)?,
            "flood-out" => flood(&mut io::stdout(), next()?.parse()?)?,
            "flood-err" => flood(&mut io::stderr(), next()?.parse()?)?,
            "ready" => publish(next()?, format!("{}\n", std::process::id()).as_bytes())?,
            "append" => {
                let mut file = OpenOptions::new().append(true).create(true).open(next()?)?;
                file.write_all(format!("{}\n", next()?).as_bytes())?;
            }
            "wait-file" => {
                let path = Path::new(next()?);
                while !path.exists() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            "sleep" => thread::sleep(Duration::from_millis(next()?.parse()?)),
            "hang" => {
                thread::sleep(HANG);
                return Err("nobody ended it".into());
            }
            "ignore-term" => {
                signal_hook::flag::register(SIGTERM, Arc::new(AtomicBool::new(false)))?;
            }
            "on-term" => {
                let code = match next()? {
                    "exit" => next()?.parse()?,
                    other => return Err(format!("`on-term` cannot `{other}`").into()),
                };
                let always = Arc::new(AtomicBool::new(true));
                signal_hook::flag::register_conditional_shutdown(SIGTERM, code, always)?;
            }
            "env" => {
                let name = next()?;
                let line = match env::var(name) {
                    Ok(value) => format!("{name}={value}\n"),
                    Err(_) => format!("{name}\n"),
                };
                write_all(&mut io::stdout(), line.as_bytes())?;
            }
            "cwd" => {
                let line = format!("{}\n", env::current_dir()?.display());
                write_all(&mut io::stdout(), line.as_bytes())?;
            }
            "fds" => write_all(&mut io::stdout(), format!("{}\n", open_descriptors()?).as_bytes())?,
            "signals" => {
                let status = fs::read_to_string("/proc/self/status")?;
                for line in status
                    .lines()
                    .filter(|line| line.starts_with("SigBlk") || line.starts_with("SigIgn"))
                {
                    write_all(&mut io::stdout(), format!("{line}\n").as_bytes())?;
                }
            }
            "ids" => {
                let raw = rustix::process::Pid::as_raw_pid;
                let line = format!("{} {} {}\n", raw(getpid()), raw(getpgrp()), raw(getsid(None)?));
                write_all(&mut io::stdout(), line.as_bytes())?;
            }
            "setsid" => {
                setsid()?;
            }
            "spawn" => {
                let kind = next()?;
                if next()? != "--" {
                    return Err("`spawn KIND` lacks its `--`".into());
                }
                let inner = until_matching_semicolon(&mut words)?;
                spawn(kind, &inner)?;
            }
            "exit" => return Ok(next()?.parse()?),
            "signal" => {
                let number: i32 = next()?.parse()?;
                let signal = Signal::from_named_raw(number).ok_or("there is no such signal")?;
                kill_process(getpid(), signal)?;
                thread::sleep(HANG);
            }
            other => return Err(format!("`{other}` is not a word").into()),
        }
    }
    Ok(0)
}

const SIGTERM: i32 = Signal::TERM.as_raw();

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file under another name first, so that whoever sees it sees all of it.
fn publish(path: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = format!("{path}.{}", std::process::id());
    fs::write(&draft, bytes)?;
    fs::rename(draft, path)
}

fn write_all(stream: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

fn flood(stream: &mut dyn Write, bytes: u64) -> io::Result<()> {
    io::copy(&mut io::repeat(b'x').take(bytes), stream)?;
    stream.flush()
}

fn bytes_from_hex(hex: &str) -> Result<Vec<u8>, Problem> {
    let digits: Vec<u32> = hex
        .chars()
        .map(|digit| digit.to_digit(16).ok_or("not a hex digit"))
        .collect::<Result<_, _>>()?;
    let pairs = digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit));
    Ok(pairs.map(u8::try_from).collect::<Result<_, _>>()?)
}

/// Replaces a standard descriptor by nothing: closing it as such would need more trust than a test
/// program deserves, and `/dev/null` lets go of the pipe just as well.
fn close(descriptor: i32) -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    match descriptor {
        0 => rustix::stdio::dup2_stdin(&nothing)?,
        1 => rustix::stdio::dup2_stdout(&nothing)?,
        _ => rustix::stdio::dup2_stderr(&nothing)?,
    }
    Ok(())
}

fn open_descriptors() -> io::Result<String> {
    let folder = fs::File::open("/proc/self/fd")?;
    let mut open: Vec<i32> = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        if let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            open.push(number);
        }
    }
    let own = folder.as_raw_fd();
    drop(folder);
    // What was only open for looking is gone by now.
    open.retain(|number| {
        *number != own && Path::new(&format!("/proc/self/fd/{number}")).symlink_metadata().is_ok()
    });
    open.sort_unstable();
    Ok(open.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

fn until_matching_semicolon<'a>(
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<Vec<&'a str>, Problem> {
    let mut depth = 1;
    let mut inner = Vec::new();
    for word in words {
        match word {
            "spawn" => depth += 1,
            ";" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(inner);
        }
        inner.push(word);
    }
    Err("`spawn` lacks its `;`".into())
}

fn spawn(kind: &str, words: &[&str]) -> Result<(), Problem> {
    let (kind, null) = match kind.split_once(',') {
        None => (kind, false),
        Some((kind, "null")) => (kind, true),
        Some((_, other)) => return Err(format!("output cannot be `{other}`").into()),
    };
    let own = env::current_exe()?;
    let mut command = Command::new(&own);
    match kind {
        "group" => command.args(words),
        "setpgid" => command.process_group(0).args(words),
        "setsid" => command.arg("setsid").args(words),
        "double-setsid" => {
            let again = if null { "setsid,null" } else { "setsid" };
            command.args(["setsid", "spawn", again, "--"]).args(words).arg(";")
        }
        "bare-env-setsid" => command.env_clear().arg("setsid").args(words),
        "lost-setsid" => {
            // The shell closes what the start handed down; 60 is where the lifeline is.
            command = Command::new("/bin/bash");
            command.env_clear();
            command.args(["-c", "exec 60>&-; exec \"$0\" setsid \"$@\""]).arg(&own).args(words)
        }
        other => return Err(format!("`{other}` is not a kind of spawn").into()),
    };
    command.stdin(Stdio::null());
    if null {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    command.spawn()?;
    Ok(())
}
