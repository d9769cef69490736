//! The guide's pages. `cargo test -p harris-guide --doc` compiles and runs their Rust examples.

#![forbid(unsafe_code)]

/// Makes a module of each page, so that its examples are tests of that name.
macro_rules! pages {
    ($($name:ident: $page:literal),* $(,)?) => {$(
        #[cfg(doctest)]
        #[doc = include_str!($page)]
        mod $name {}
    )*};
}

pages! {
    introduction: "src/introduction.md",
    images: "src/images.md",
    configuration: "src/configuration.md",
    subpixel: "src/subpixel.md",
    matching: "src/matching.md",
    evaluating: "src/evaluating.md",
    backends: "src/backends.md",
    video: "src/video.md",
    gpu_memory: "src/gpu-memory.md",
    clusters: "src/clusters.md",
    python: "src/python.md",
    errors: "src/errors.md",
    equality: "src/equality.md",
    migrating: "src/migrating.md",
}
