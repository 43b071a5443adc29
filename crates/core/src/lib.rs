//! The pure core of tenter: what an event is, what a hook may say about it, which hooks would run,
//! and what all of them together mean for the host.
//!
//! Everything here is a function of its arguments. This crate does no I/O, reads no clock, knows no
//! async runtime and no host, and does not panic.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::indexing_slicing, reason = "a failing index fails the test"))]

pub mod approval;
pub mod contract;
pub mod diagnostic;
pub mod event;
pub mod exit_code;
mod glob;
pub mod hook;
pub mod json;
pub mod matcher;
pub mod merge;
pub mod outcome;
pub mod plan;
pub mod profile;
pub mod rules;
pub mod suggest;
pub mod units;
pub mod verdict;
pub mod views;

pub use tenter_shell as shell;

pub use approval::Approval;
pub use contract::{Block, Contract, Delivery, OnFailure, PlainText, Rewrites, Subject};
pub use diagnostic::{Diagnostic, Position, Severity};
pub use event::{Agent, Event, EventKind, EventMask, Origin, Payload, ResultPair};
pub use hook::{Handler, Hook, Level, Order, Scope, Source};
pub use json::{Fields, Json};
pub use matcher::Matcher;
pub use merge::{Merged, Said, Voice, merge};
pub use outcome::{Failure, HookReport, Message, Outcome, Skip, Status};
pub use plan::{HookTable, Plan, Planned};
pub use profile::Profile;
pub use rules::{Rule, RuleSet};
pub use verdict::{Decision, Rewrite, Verdict};
