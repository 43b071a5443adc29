//! Runs test files: finding them, a world for each case, the events, and the reports.
//!
//! | module | owns |
//! |---|---|
//! | `find` | which files there are, and what is wrong with them |
//! | `filter` | which cases run |
//! | `world` | the home, the project and the engine of one case |
//! | `case` | one case from its first event to its last check |
//! | `run` | all cases, side by side, and what ends them early |
//! | `report`, `json`, `junit` | how results look |
//!
//! The format, and what an expectation matches, are the library's.

mod case;
pub(crate) mod filter;
pub(crate) mod find;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod report;
pub(crate) mod run;
mod world;
