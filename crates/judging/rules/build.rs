//! Packs the broken fixtures into the crate, compressed, so that `proof explain` can show an example without any file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    println!("cargo::rerun-if-changed={}", fixtures.display());
    let mut names: Vec<_> = fs::read_dir(&fixtures)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    // Each entry: the rule's id and the length of its trace in bytes on a line, then the trace.
    let mut entries = String::new();
    for name in names {
        if let Ok(trace) = fs::read_to_string(fixtures.join(&name).join("broken.jsonl")) {
            let _ = write!(entries, "{name} {}\n{trace}", trace.len());
        }
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let packed = miniz_oxide::deflate::compress_to_vec(entries.as_bytes(), 6);
    fs::write(Path::new(&out).join("broken.deflate"), packed).expect("the build directory can be written");
}
