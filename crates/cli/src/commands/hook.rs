//! `tenter hook`: tenter as a hook command of a host.
//!
//! Owns the way from the host's payload to the host's answer, and what becomes of a failure on it. A
//! host reads every exit code and every byte on stdout as an opinion, so nothing but an answer in its
//! own format goes there, whatever happens.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tenter::core::diagnostic::Severity;
use tenter::core::event::Payload;
use tenter::core::exit_code::{DENIED, PROCEED, USAGE};
use tenter::core::suggest::nearest;
use tenter::hosts::bridge::{self, Answer, Bridge, EventRow, Incoming};
use tenter::hosts::native;
use tenter::{Engine, Origin, Outcome, RunContext, SessionMemory};

use crate::args::{ConfigArgs, HookArgs, ProjectArgs};
use crate::console::Console;
use crate::error::{CliError, reason};
use crate::firing::Fired;
use crate::world::{self, World};
use crate::{bug, firing, outcome, setup};

/// The session of a payload that names none.
const SESSION: &str = "hook";

/// Runs the command. There is an answer whatever happens.
pub(crate) fn run(args: &HookArgs, console: &mut Console) -> u8 {
    let Some(bridge) = bridge::by_name(&args.host) else {
        return no_such_host(&args.host, console);
    };
    let config = ConfigArgs {
        config: args.config.clone(),
        trust_project: args.trust_project,
        project: ProjectArgs { project: args.project.project.clone() },
        profile: &native::HOST,
    };
    let event = args.event.clone();
    Run { started: Instant::now(), deadline: args.deadline, ..Run::new(bridge, event, config) }
        .guarded(console, Run::answer)
}

/// The exit code of a command line that cannot be understood, `said`. An installed line that is wrong
/// must not open the gate: as a hook it is answered.
pub(crate) fn instead_of(
    said: u8,
    arguments: impl Iterator<Item = OsString>,
    console: &mut Console,
) -> u8 {
    let texts = arguments.map(|one| one.to_string_lossy().into_owned());
    let words: Vec<String> = texts.filter(|text| !text.starts_with('-')).collect();
    if said != USAGE || words.first().is_none_or(|first| first != "hook") {
        return said;
    }
    let Some(bridge) = words.iter().find_map(|word| bridge::by_name(word)) else {
        return DENIED;
    };
    let config = ConfigArgs {
        config: Vec::new(),
        trust_project: false,
        project: ProjectArgs { project: None },
        profile: &native::HOST,
    };
    Run::new(bridge, None, config).guarded(console, |_, _| {
        Err(CliError::usage("the hook's command line is wrong")
            .hint(format!("`tenter install {}` writes it anew", bridge.name)))
    })
}

/// Nobody knows what that host would read as a no. Exit 2 with a reason on stderr alone is what most
/// of them take for one.
fn no_such_host(name: &str, console: &mut Console) -> u8 {
    let error = CliError { code: DENIED, ..CliError::usage(format!("there is no host `{name}`")) };
    let names = || bridge::all().map(|bridge| bridge.name);
    let hint = nearest(name, names()).map_or_else(
        || format!("the hosts are {}", names().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    console.fail(&error.hint(hint))
}

/// One call by a host.
struct Run {
    bridge: &'static Bridge,
    event: Option<String>,
    config: ConfigArgs,
    started: Instant,
    deadline: Option<Duration>,
    /// The event, as soon as it is known.
    row: Cell<Option<&'static EventRow>>,
    /// Whether any guard could have a say, as soon as that is known.
    guards: Cell<Option<bool>>,
    /// The exit code of the answer that was given: there is no second one.
    told: Cell<Option<u8>>,
}

impl Run {
    fn new(bridge: &'static Bridge, event: Option<String>, config: ConfigArgs) -> Self {
        let row = event.as_deref().and_then(|name| bridge.row(name));
        Self {
            bridge,
            event,
            config,
            started: Instant::now(),
            deadline: None,
            row: Cell::new(row),
            guards: Cell::new(None),
            told: Cell::new(None),
        }
    }

    /// Does it, and answers for what goes wrong.
    fn guarded(
        &self,
        console: &mut Console,
        answer: impl FnOnce(&Self, &mut Console) -> Result<u8, CliError>,
    ) -> u8 {
        let ended = bug::guarded(|| match answer(self, console) {
            Ok(code) => code,
            Err(error) => self.fail(&error, console),
        });
        match (ended, self.told.get()) {
            (Ok(code), _) | (Err(_), Some(code)) => code,
            (Err((_, line)), None) => self.fail(&CliError::usage(line), console),
        }
    }

    fn answer(&self, console: &mut Console) -> Result<u8, CliError> {
        let world = World::of_this_process()?;
        let text = self.payload()?;
        let incoming = self.read(&text, &world)?;
        if incoming.tells_nothing() {
            return Ok(self.tell(&self.bridge.nothing(), console));
        }
        let engine = self.engine(&incoming, &world)?;
        let event = &incoming.event;
        let session = engine.session(event.origin.session_id.clone());
        let places = setup::places(self.project(&world).as_deref(), None, &world)?;
        let name = self.bridge.name;
        let file = SessionMemory::file(&places.state_home, name, &event.origin.session_id);
        let memory = SessionMemory::load(&file);
        session.take_up(&memory);

        let mut cx = RunContext::new();
        cx.deadline = self.deadline.map(|deadline| self.started + deadline);
        let contract = *engine.host().profile.contract(&event.kind);
        let told = |outcome: &Outcome| {
            let said = self.bridge.answer(&incoming, outcome, &contract);
            self.tell(&said.answer, console);
            if said.answer.exit == PROCEED && !self.bridge.reads_stderr {
                setup::report(&engine.loaded(), console);
                for lost in &said.lost {
                    console.warn(&lost.note);
                }
                for message in outcome.messages.iter().filter(|it| it.level != Severity::Info) {
                    console.warn(&message.text);
                }
            }
        };
        let fired = firing::fire(&session, event, &cx, || self.grace(), told)?.ok();
        let mut learnt = session.memory();
        match (&event.payload, fired) {
            (Payload::Prompt(prompt), _) => learnt.go_on(&memory, prompt),
            (Payload::Stop(_), Some(Fired { outcome, .. })) if outcome.decision.restricts() => {
                learnt.send_on(outcome.reason.as_deref().unwrap_or_default());
            }
            _ => {}
        }
        if learnt != memory
            && let Err(error) = learnt.save(&file)
        {
            console.warn(&format!("cannot write `{}`: {}", file.display(), reason(&error)));
        }
        self.told.get().ok_or_else(|| CliError::bad_input("the hooks were interrupted"))
    }

    /// How long hooks that nobody waits for get: the host waits for this process.
    fn grace(&self) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_sub(self.started.elapsed()));
        left.map_or(outcome::GRACE, |left| left.min(outcome::GRACE))
    }

    fn payload(&self) -> Result<String, CliError> {
        if world::stdin_is_terminal() {
            return Err(CliError::bad_input("no payload: stdin is a terminal")
                .hint("a host calls this and writes the event to stdin"));
        }
        let until = self.deadline.map(|deadline| self.started + deadline);
        world::read_payload(until)
    }

    fn read(&self, text: &str, world: &World) -> Result<Incoming, CliError> {
        let cwd = self.project(world).unwrap_or_else(|| world.cwd().to_owned());
        let defaults = Origin {
            session_id: SESSION.into(),
            cwd: cwd.to_string_lossy().into_owned(),
            ..Origin::default()
        };
        let incoming =
            self.bridge.read(text, self.event.as_deref(), &defaults).map_err(|error| {
                CliError::bad_input(format!("the payload of {}: {error}", self.bridge.title))
            })?;
        self.row.set(Some(incoming.row));
        Ok(incoming)
    }

    /// The project's folder: the one that was named, or the one that the host names.
    fn project(&self, world: &World) -> Option<PathBuf> {
        let named = self.config.project.project.clone();
        named.or_else(|| {
            let values = self.bridge.project_variables.iter();
            let folders = values.filter_map(|name| world.variable(name)).map(PathBuf::from);
            folders.into_iter().find(|folder| folder.is_absolute() && folder.is_dir())
        })
    }

    fn engine(&self, incoming: &Incoming, world: &World) -> Result<Engine, CliError> {
        let cwd = PathBuf::from(&incoming.event.origin.cwd);
        let places = setup::places(self.project(world).as_deref(), Some(&cwd), world)?;
        let built = setup::builder(&self.config, &places, world).try_build();
        let engine = built.map_err(setup::not_loaded)?;
        self.guards.set(Some(engine.has_guard(Some(&incoming.event.kind))));
        Ok(engine)
    }

    /// Whether a guard could have a say in an event of which nothing but perhaps the kind is known. A
    /// configuration that cannot be loaded may have held one.
    fn could_be_guarded(&self) -> bool {
        let of_configuration = || {
            let world = World::of_this_process().ok()?;
            let places = setup::places(self.project(&world).as_deref(), None, &world).ok()?;
            let engine = setup::builder(&self.config, &places, &world).try_build().ok()?;
            Some(engine.has_guard(self.row.get().map(EventRow::kind).as_ref()))
        };
        self.guards.get().unwrap_or_else(|| of_configuration().unwrap_or(true))
    }

    fn fail(&self, error: &CliError, console: &mut Console) -> u8 {
        let is_guarded = Cell::new(true);
        let _ = bug::guarded(|| {
            is_guarded.set(self.could_be_guarded());
            PROCEED
        });
        if !is_guarded.get() {
            console.fail(error);
            return self.tell(&self.bridge.nothing(), console);
        }
        let message = format!("tenter could not judge this, so it is refused: {}", error.message);
        let lines: Vec<&str> =
            [&message].into_iter().chain(&error.hints).map(String::as_str).collect();
        let why = lines.join("\n");
        let answer = self.bridge.refuse(self.row.get(), &why);
        if answer.exit == PROCEED {
            console.fail(error);
        }
        self.tell(&answer, console)
    }

    /// Gives the one answer; gives the exit code.
    fn tell(&self, answer: &Answer, console: &mut Console) -> u8 {
        console.err(&answer.stderr);
        console.out(&answer.stdout);
        // An answer that did not arrive must not be an approval.
        let is_lost = console.lost().is_some() && !answer.stdout.is_empty();
        let code = if is_lost { DENIED } else { answer.exit };
        self.told.set(Some(code));
        code
    }
}
