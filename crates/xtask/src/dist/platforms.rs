//! The platforms that packages are made for: their names for Rust, npm and Python. One row for each.

/// One platform.
#[derive(Debug)]
pub(super) struct Platform {
    /// Rust's name.
    pub(super) triple: &'static str,
    /// npm's `os` and `cpu`; with a hyphen between them, the end of the package's name.
    pub(super) npm: (&'static str, &'static str),
    /// The platform in a wheel's tag, without the system's version.
    pub(super) wheel: &'static str,
}

/// All of them. The tests run on the first.
pub(super) const PLATFORMS: [Platform; 4] = [
    Platform { triple: "x86_64-unknown-linux-gnu", npm: ("linux", "x64"), wheel: "x86_64" },
    Platform { triple: "aarch64-unknown-linux-gnu", npm: ("linux", "arm64"), wheel: "aarch64" },
    Platform { triple: "x86_64-apple-darwin", npm: ("darwin", "x64"), wheel: "x86_64" },
    Platform { triple: "aarch64-apple-darwin", npm: ("darwin", "arm64"), wheel: "arm64" },
];

impl Platform {
    /// The platform with this name of Rust's.
    pub(super) fn of(triple: &str) -> Option<&'static Self> {
        PLATFORMS.iter().find(|platform| platform.triple == triple)
    }

    /// The name of the npm package that holds its binaries.
    pub(super) fn npm_package(&self) -> String {
        format!("@proofhouse/{}-{}", self.npm.0, self.npm.1)
    }

    /// Whether it is Linux.
    pub(super) fn is_linux(&self) -> bool {
        self.npm.0 == "linux"
    }
}
