//! A program that does nothing: what any program of this profile costs to start and to end.

fn main() {}
