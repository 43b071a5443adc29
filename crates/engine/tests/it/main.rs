//! The engine as a host uses it: real files, real processes.

#![expect(clippy::unwrap_used, reason = "a failing unwrap fails the test")]
#![expect(clippy::indexing_slicing, reason = "a failing index fails the test")]

mod behind;
mod config;
mod crush;
mod field_merging;
mod field_parsing;
mod field_processes;
mod field_table;
mod fire;
mod functions;
mod guardrail;
mod holes;
mod hotl;
mod mecatl;
mod mecatl_rules;
mod processes;
mod profiles;
mod recordings;
mod reload;
mod seed_items;
mod self_rules;
mod shell;
mod stress;
mod support;
mod trust;
mod world;
