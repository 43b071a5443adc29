//! Hooks that are functions of the embedding program.
//!
//! A synchronous function runs on the caller's task and is expected to be quick. A blocking one
//! runs on a thread of its own, so that its deadline holds; an asynchronous one is raced with its
//! deadline. A function that panics has failed.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tenter_core::contract::Contract;
use tenter_core::event::{Event, EventKind, EventMask, Origin, ResultPair, StopFacts};
use tenter_core::hook::{Handler, Hook, Level, Source};
use tenter_core::json::Json;
use tenter_core::matcher::Matcher;
use tenter_core::merge::{Said, Voice, merge};
use tenter_core::outcome::Outcome;
use tenter_core::verdict::{Decision, Rewrite, Verdict};
use tenter_hosts::codec::Host;

use crate::engine::Engine;
use crate::runner::{HookRunner, RunContext};
use crate::session::Session;

/// A tool call, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct ToolView<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Json,
    /// Where it happens.
    pub origin: &'a Origin,
}

/// A tool's result, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct ResultView<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What it was asked.
    pub input: &'a Json,
    /// What it gave.
    pub result: &'a ResultPair,
    /// Where it happened.
    pub origin: &'a Origin,
}

type ToolFunction = dyn Fn(ToolView<'_>) -> Verdict + Send + Sync;
type EventFunction = dyn Fn(&Event) -> Verdict + Send + Sync;
type AsyncFunction = dyn Fn(Event) -> BoxFuture<'static, Verdict> + Send + Sync;

/// How an in-process hook is called.
#[derive(Clone)]
pub(crate) enum Function {
    Tool(Arc<ToolFunction>),
    Event(Arc<EventFunction>),
    Blocking(Arc<EventFunction>),
    Async(Arc<AsyncFunction>),
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool(_) | Self::Event(_) => "Function::Sync",
            Self::Blocking(_) => "Function::Blocking",
            Self::Async(_) => "Function::Async",
        })
    }
}

/// What a panic said. The payload itself is never dropped: that could panic again.
pub(crate) fn panic_text(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    std::mem::forget(panic);
    text.unwrap_or_else(|| "a panic without a text".into())
}

impl Function {
    /// Whether it answers at once.
    pub(crate) fn is_sync(&self) -> bool {
        matches!(self, Self::Tool(_) | Self::Event(_))
    }

    /// Calls a function that answers at once; `None` for one that does not.
    pub(crate) fn call_now(&self, event: &Event) -> Option<Result<Verdict, String>> {
        let called = match self {
            Self::Tool(function) => match event.tool_call() {
                Some(call) => {
                    let view =
                        ToolView { tool: &call.name, input: &call.input, origin: &event.origin };
                    catch_unwind(AssertUnwindSafe(|| function(view)))
                }
                None => Ok(Verdict::none()),
            },
            Self::Event(function) => catch_unwind(AssertUnwindSafe(|| function(event))),
            Self::Blocking(_) | Self::Async(_) => return None,
        };
        Some(called.map_err(panic_text))
    }
}

/// One in-process hook: its entry, and the function behind it.
#[derive(Debug, Clone)]
pub struct FunctionHook {
    pub(crate) hook: Hook,
    pub(crate) function: Function,
}

impl FunctionHook {
    fn new(name: impl Into<String>, events: Vec<EventKind>, function: Function) -> Self {
        let name = name.into();
        let source = Source::code(format!("code:{name}"));
        Self { hook: Hook::new(name, source, events, Handler::Function), function }
    }

    /// A function that answers at once.
    pub fn sync(
        name: impl Into<String>,
        events: impl Into<Vec<EventKind>>,
        function: impl Fn(&Event) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, events.into(), Function::Event(Arc::new(function)))
    }

    /// A function that may block: it runs on a thread of its own.
    pub fn blocking(
        name: impl Into<String>,
        events: impl Into<Vec<EventKind>>,
        function: impl Fn(&Event) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, events.into(), Function::Blocking(Arc::new(function)))
    }

    /// A function that answers later. It runs inside the caller's runtime.
    pub fn future<F>(
        name: impl Into<String>,
        events: impl Into<Vec<EventKind>>,
        function: impl Fn(Event) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Verdict> + Send + 'static,
    {
        let boxed = move |event| -> BoxFuture<'static, Verdict> { Box::pin(function(event)) };
        Self::new(name, events.into(), Function::Async(Arc::new(boxed)))
    }

    /// With settings of the entry: matcher, timeout, failure policy, order, scope.
    #[must_use]
    pub fn configure(mut self, edit: impl FnOnce(&mut Hook)) -> Self {
        edit(&mut self.hook);
        self.hook.handler = Handler::Function;
        self
    }
}

/// Builds a set of in-process hooks. They run in the order in which they were added.
#[derive(Debug, Default)]
pub struct FunctionHooksBuilder {
    hooks: Vec<FunctionHook>,
    host: Option<Host>,
}

impl FunctionHooksBuilder {
    fn tool(
        mut self,
        kind: EventKind,
        matcher: Matcher,
        function: impl Fn(ToolView<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let name = format!("{}-{}", kind.name(), self.hooks.len() + 1);
        let hook = FunctionHook::new(name, vec![kind], Function::Tool(Arc::new(function)));
        self.hooks.push(hook.configure(|hook| hook.matcher = matcher));
        self
    }

    /// Before every tool call.
    #[must_use]
    pub fn on_pre_tool(
        self,
        function: impl Fn(ToolView<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.tool(EventKind::PreToolUse, Matcher::all(), function)
    }

    /// Before calls of the tools that a matcher names.
    #[must_use]
    pub fn on_pre_tool_matching(
        self,
        matcher: Matcher,
        function: impl Fn(ToolView<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.tool(EventKind::PreToolUse, matcher, function)
    }

    /// After every tool call.
    #[must_use]
    pub fn on_post_tool(
        self,
        function: impl Fn(ResultView<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.on_post_tool_matching(Matcher::all(), function)
    }

    /// After calls of the tools that a matcher names.
    #[must_use]
    pub fn on_post_tool_matching(
        mut self,
        matcher: Matcher,
        function: impl Fn(ResultView<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let name = format!("PostToolUse-{}", self.hooks.len() + 1);
        let with_view = move |event: &Event| match &event.payload {
            tenter_core::event::Payload::ToolResult { call, response, failed } => {
                let result = ResultPair::of(response, *failed);
                let (tool, input, origin) = (&call.name, &call.input, &event.origin);
                function(ResultView { tool, input, result: &result, origin })
            }
            _ => Verdict::none(),
        };
        let hook = FunctionHook::sync(name, [EventKind::PostToolUse], with_view);
        self.hooks.push(hook.configure(|hook| hook.matcher = matcher));
        self
    }

    /// When the user has sent a prompt.
    #[must_use]
    pub fn on_user_prompt(
        self,
        function: impl Fn(&str) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.on_event(EventKind::UserPromptSubmit, move |event| match &event.payload {
            tenter_core::event::Payload::Prompt(prompt) => function(prompt),
            _ => Verdict::none(),
        })
    }

    /// When the turn is about to end.
    #[must_use]
    pub fn on_stop(self, function: impl Fn(&StopFacts) -> Verdict + Send + Sync + 'static) -> Self {
        self.on_event(EventKind::Stop, move |event| match &event.payload {
            tenter_core::event::Payload::Stop(facts) => function(facts),
            _ => Verdict::none(),
        })
    }

    /// When the agent tells its user something. Nobody waits for it.
    #[must_use]
    pub fn on_notification(
        self,
        function: impl Fn(&Event) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.on_event(EventKind::Notification, function)
    }

    /// When the session ends.
    #[must_use]
    pub fn on_session_end(
        self,
        function: impl Fn(&Event) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.on_event(EventKind::SessionEnd, function)
    }

    /// When an event of any kind happens.
    #[must_use]
    pub fn on_event(
        mut self,
        kind: EventKind,
        function: impl Fn(&Event) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let name = format!("{}-{}", kind.name(), self.hooks.len() + 1);
        self.hooks.push(FunctionHook::sync(name, [kind], function));
        self
    }

    /// A hook with settings of its own.
    #[must_use]
    pub fn hook(mut self, hook: FunctionHook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Under the rules of another host than tenter's own.
    ///
    /// ```
    /// use tenter::hosts::hotl;
    /// use tenter::{FunctionHooks, Json, Origin, PreToolOutcome, RunContext, Verdict};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = FunctionHooks::builder()
    ///     .host(hotl::HOST)
    ///     .on_pre_tool(|call| match call.tool {
    ///         "bash" => Verdict::deny("no shell"),
    ///         _ => Verdict::allow(),
    ///     })
    ///     .build();
    /// let (origin, cx) = (Origin::default(), RunContext::new());
    /// let outcome = hooks.session().pre_tool("read", Json::empty_object(), &origin, &cx).await;
    /// // Under hotl a hook never grants.
    /// assert!(matches!(outcome, PreToolOutcome::Proceed { approved: false, .. }));
    /// # });
    /// ```
    #[must_use]
    pub fn host(mut self, host: Host) -> Self {
        self.host = Some(host);
        self
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// The set, ready to run.
    pub fn build(self) -> FunctionHooks {
        let contract = *tenter_hosts::native::PROFILE.contract(&EventKind::PreToolUse);
        let (mut quick, mut has_others) = (Vec::new(), false);
        let before_tools =
            |entry: &&FunctionHook| entry.hook.events.contains(&EventKind::PreToolUse);
        for entry in self.hooks.iter().filter(before_tools) {
            match &entry.function {
                Function::Tool(function) if entry.hook.is_plain() => quick.push(Quick {
                    matcher: (!entry.hook.matcher.is_all())
                        .then(|| Box::new(entry.hook.matcher.clone())),
                    function: Arc::clone(function),
                }),
                _ => has_others = true,
            }
        }
        // The rules of others, such as what a hook is shown, hold in `run` alone.
        has_others |= self.host.is_some();
        let host = self.host.unwrap_or(tenter_hosts::native::HOST);
        let session = Engine::builder().host(host).functions(self.hooks).build().session("");
        FunctionHooks { quick, has_others, contract, session }
    }
}

/// Small, so that a walk over many touches little memory.
struct Quick {
    function: Arc<ToolFunction>,
    matcher: Option<Box<Matcher>>,
}

impl Quick {
    fn is_for(&self, tool: &str) -> bool {
        self.matcher.as_ref().is_none_or(|matcher| matcher.matches(tool))
    }
}

#[cold]
fn take_worse(worst: &mut Verdict, verdict: Verdict, halted: &Cell<bool>) {
    halted.set(halted.get() | verdict.halt);
    if worst.is_silent() || verdict.decision > worst.decision {
        *worst = verdict;
    }
    worst.halt = halted.get();
}

#[cold]
fn failed(panic: Box<dyn std::any::Any + Send>, halted: bool) -> Verdict {
    Verdict::deny(format!("a hook failed: {}", panic_text(panic))).with_halt(halted)
}

/// A set of in-process hooks that needs no configuration and no file.
///
/// ```
/// use tenter::{FunctionHooks, Verdict};
///
/// let hooks = FunctionHooks::builder()
///     .on_pre_tool(|view| match view.tool {
///         "Bash" => Verdict::deny("no shell in this session"),
///         _ => Verdict::none(),
///     })
///     .build();
/// # let _ = hooks;
/// ```
pub struct FunctionHooks {
    quick: Vec<Quick>,
    /// Whether there are hooks for `PreToolUse` that are not quick.
    has_others: bool,
    contract: Contract,
    session: Session,
}

impl fmt::Debug for FunctionHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionHooks").field("mask", &self.mask()).finish_non_exhaustive()
    }
}

impl FunctionHooks {
    /// An empty set to add to.
    pub fn builder() -> FunctionHooksBuilder {
        FunctionHooksBuilder::default()
    }

    /// The synchronous fast path before a tool call: asks every function that was added with
    /// `on_pre_tool…`, in order, and gives the most severe verdict, the first among equals. No report
    /// is written, no clock is read, and nothing is allocated unless a hook does.
    ///
    /// Rewrites are folded, and every function is asked again about the folded input, as in
    /// [`HookRunner::run`]. A hook that panics denies. A set with other hooks for `PreToolUse`
    /// (asynchronous, blocking, `on_event`), or under the rules of another host, cannot be asked this
    /// way: the verdict is a denial that says so.
    pub fn decide(&self, view: ToolView<'_>) -> Verdict {
        if self.has_others {
            return Verdict::deny("this set has hooks that only `HookRunner::run` can ask");
        }
        // One net for all of them: what a hook would have said after a panic cannot be laxer.
        let halted = Cell::new(false);
        catch_unwind(AssertUnwindSafe(|| self.most_severe(view, &halted)))
            .unwrap_or_else(|panic| failed(panic, halted.get()))
    }

    fn most_severe(&self, view: ToolView<'_>, halted: &Cell<bool>) -> Verdict {
        let mut worst = Verdict::none();
        for (at, quick) in self.quick.iter().enumerate() {
            if !quick.is_for(view.tool) {
                continue;
            }
            let verdict = (quick.function)(view);
            if verdict.is_silent() {
                // It owns nothing, so there is nothing to drop.
                std::mem::forget(verdict);
                continue;
            }
            if verdict.rewrite().is_some() {
                return self.fold(view, halted, worst, at, verdict);
            }
            take_worse(&mut worst, verdict, halted);
        }
        worst
    }

    /// Goes on from the first rewrite: folds all of them, and asks everybody again.
    #[cold]
    fn fold(
        &self,
        view: ToolView<'_>,
        halted: &Cell<bool>,
        mut worst: Verdict,
        first: usize,
        verdict: Verdict,
    ) -> Verdict {
        let mut rewrites = vec![(first, verdict)];
        let rest = self.quick.iter().enumerate().skip(first + 1);
        for (at, quick) in rest.filter(|(_, quick)| quick.is_for(view.tool)) {
            let verdict = (quick.function)(view);
            if verdict.rewrite().is_some() {
                rewrites.push((at, verdict));
            } else {
                take_worse(&mut worst, verdict, halted);
            }
        }
        let fold = |of: &[Verdict]| {
            let voices: Vec<_> = of
                .iter()
                .map(|verdict| Voice { level: Level::User, said: Said::Verdict(verdict) })
                .collect();
            merge(&voices, Some(view.input), &self.contract).payload
        };
        let only_rewrites = |verdict: &Verdict| {
            let rewrite = verdict.rewrite().cloned();
            rewrite.map_or_else(Verdict::none, |rewrite| Verdict::none().with_rewrite(rewrite))
        };
        let bare: Vec<_> = rewrites.iter().map(|(_, verdict)| only_rewrites(verdict)).collect();
        let folded = fold(&bare);
        let makers: Vec<usize> = rewrites.iter().map(|(at, _)| *at).collect();
        for (_, mut verdict) in rewrites {
            verdict.take_rewrite();
            take_worse(&mut worst, verdict, halted);
        }
        let Some(folded) = folded else { return worst };
        // An allow was given for the input as it was.
        if worst.decision == Decision::Allow {
            worst.decision = Decision::None;
        }
        let again = ToolView { input: &folded, ..view };
        let mut allows = false;
        for (at, quick) in
            self.quick.iter().enumerate().filter(|(_, quick)| quick.is_for(view.tool))
        {
            let made_it = makers.iter().position(|maker| *maker == at).is_some_and(|place| {
                let own = bare.get(place).map(std::slice::from_ref).unwrap_or_default();
                fold(own).is_some_and(|own| own.same_value(&folded))
            });
            if made_it {
                continue;
            }
            let verdict = (quick.function)(again);
            allows |= verdict.decision == Decision::Allow;
            if verdict.decision.restricts() || verdict.halt {
                take_worse(&mut worst, verdict, halted);
            }
        }
        if allows && worst.decision == Decision::None {
            worst.decision = Decision::Allow;
        }
        if worst.decision == Decision::Deny || worst.halt {
            worst
        } else {
            worst.with_rewrite(Rewrite::Replace(folded))
        }
    }

    /// The session that runs these hooks for all events, with reports.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl HookRunner for FunctionHooks {
    fn run<'a>(&'a self, event: &'a Event, cx: &'a RunContext) -> BoxFuture<'a, Outcome> {
        self.session.run(event, cx)
    }

    fn mask(&self) -> EventMask {
        self.session.mask()
    }

    fn only_tells(&self, kind: &EventKind) -> bool {
        self.session.only_tells(kind)
    }
}
