//! How the program is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|system| system == "linux") {
        // A program that can stand anywhere in memory has its tables of addresses written at each
        // start: a third of the time of a program that a host starts for every event.
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
