//! Made by `cargo xtask seeds`; changes here are lost. Every item that `docs/seeds.toml` names is
//! where it says: what cannot be resolved does not compile.

#![expect(unused_imports, reason = "they are named, not used")]

use tenter_agent::Memory as _Item0;
use tenter_agent::ModelChecker as _Item1;
use tenter_agent::UserModelReviewer as _Item2;
