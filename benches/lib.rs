//! Benchmarks of the harris crates: `cargo bench -p harris-benches`.
//!
//! - `detect`: image to list, by backend, threads, preset and size.
//! - `stages`: the reference stage by stage; the CPU backend by what each choice of a stage costs.
