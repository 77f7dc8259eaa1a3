//! Gathers the broken fixtures into the crate, so that `proof explain` can show an example without any file.

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
        .filter(|name| fixtures.join(name).join("broken.jsonl").is_file())
        .collect();
    names.sort();
    let mut table = String::from("[\n");
    for name in &names {
        let path = fixtures.join(name).join("broken.jsonl");
        let path = path.display().to_string();
        let _ = writeln!(table, "    ({name:?}, include_str!({path:?})),");
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("broken.rs"), table).expect("the build directory can be written");
}
