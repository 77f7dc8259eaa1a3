//! A fleet in a folder that ends with the test: its store, and the program `proof`, which a build of the workspace puts beside
//! `proof-fleet`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fleet::child::Runner;
use fleet::config::Fleet;
use fleet::keeping::Keeping;
use net::Children;

/// A fleet, and what it needs to run.
pub(crate) struct Scene {
    /// With `fleet.yaml`, and `weather.yaml` of the examples.
    pub(crate) folder: tempfile::TempDir,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) keeping: Keeping,
    pub(crate) runner: Runner,
    pub(crate) _children: Ended,
}

/// Child processes that end with the test.
pub(crate) struct Ended(Children);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill_all();
    }
}

impl Scene {
    /// The fleet of a `fleet.yaml`.
    pub(crate) async fn open(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/weather.yaml");
        std::fs::copy(examples, folder.path().join("weather.yaml")).expect("the example");
        let file = folder.path().join("fleet.yaml");
        std::fs::write(&file, text).expect("a file");
        let fleet = Arc::new(Fleet::load(&file).expect("a fleet"));
        let children = Ended(Children::new());
        let runner = Runner::at(&children.0, proof()).await.expect("proof");
        let keeping = Keeping::open(&fleet).await.expect("a store");
        Self { folder, fleet, keeping, runner, _children: children }
    }
}

/// The program `proof`.
pub(crate) fn proof() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_proof-fleet")).with_file_name("proof");
    assert!(path.is_file(), "{} is missing: build it with `cargo build -p cli`", path.display());
    path
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_millis()).expect("a time")
}
