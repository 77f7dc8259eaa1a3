//! Where the files of clients are, by platform and variables. Knows no file system.

use std::path::PathBuf;

use crate::catalogue::Client;

/// An operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names")]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    /// The one that this program was built for.
    pub const fn here() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// The variables that places depend on.
pub struct Variables<'v> {
    home: PathBuf,
    platform: Platform,
    variable: &'v dyn Fn(&str) -> Option<PathBuf>,
}

impl<'v> Variables<'v> {
    /// `variable` gives the value of an environment variable; `None` where there is no user's folder.
    pub fn new(platform: Platform, variable: &'v dyn Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let name = if platform == Platform::Windows { "USERPROFILE" } else { "HOME" };
        let home = variable(name).filter(|path| !path.as_os_str().is_empty())?;
        Some(Self { home, platform, variable })
    }

    /// The user's folder.
    pub fn home(&self) -> &PathBuf {
        &self.home
    }

    /// The platform.
    pub const fn platform(&self) -> Platform {
        self.platform
    }

    fn folder(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|path| !path.as_os_str().is_empty())
    }

    fn config(&self) -> PathBuf {
        // The specification of this variable has relative paths ignored.
        self.folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).unwrap_or_else(|| self.home.join(".config"))
    }

    /// The path that a place of the data file names: `home:`, `config:`, `data:`, `appdata:`, `localappdata:`, or the folder
    /// of a variable, `$NAME|folder:`.
    pub fn path(&self, place: &str) -> PathBuf {
        let (base, rest) = place.split_once(':').unwrap_or(("home", place));
        let roaming = || self.folder("APPDATA").unwrap_or_else(|| self.home.join("AppData/Roaming"));
        let folder = match base {
            "config" => self.config(),
            "data" => match self.platform {
                Platform::Linux => self.config(),
                Platform::MacOs => self.home.join("Library/Application Support"),
                Platform::Windows => roaming(),
            },
            "appdata" => roaming(),
            "localappdata" => self.folder("LOCALAPPDATA").unwrap_or_else(|| self.home.join("AppData/Local")),
            base => match base.strip_prefix('$').and_then(|base| base.split_once('|')) {
                Some((name, otherwise)) => self.folder(name).unwrap_or_else(|| self.home.join(otherwise)),
                None => self.home.clone(),
            },
        };
        folder.join(rest)
    }

    /// The files of a client for its user, the one for new servers first.
    pub fn user_files(&self, client: &Client) -> Vec<PathBuf> {
        client.user.of(self.platform).iter().map(|place| self.path(place)).collect()
    }

    /// Every file of a client outside projects.
    pub fn all_files(&self, client: &Client) -> Vec<PathBuf> {
        let mut files = self.user_files(client);
        files.extend(client.read.iter().map(|place| self.path(place)));
        files
    }

    /// What shows that a client is installed: one of these exists.
    pub fn signs(&self, client: &Client) -> Vec<PathBuf> {
        let mut signs: Vec<_> = client.detect.iter().map(|place| self.path(place)).collect();
        for file in self.user_files(client) {
            match file.parent() {
                Some(folder) if *folder != self.home && folder != self.config() => signs.push(folder.to_owned()),
                _ => signs.push(file),
            }
        }
        signs
    }
}

/// A place of the data file as a person writes it.
pub fn shown(place: &str, platform: Platform) -> String {
    let (base, rest) = place.split_once(':').unwrap_or(("home", place));
    let folder = match (base, platform) {
        ("home", Platform::Windows) => "%USERPROFILE%".to_owned(),
        ("config", _) | ("data", Platform::Linux) => "$XDG_CONFIG_HOME".to_owned(),
        ("data", Platform::MacOs) => "~/Library/Application Support".to_owned(),
        ("data" | "appdata", _) => "%APPDATA%".to_owned(),
        ("localappdata", _) => "%LOCALAPPDATA%".to_owned(),
        (base, _) => base.split_once('|').map_or("~", |(name, _)| name).to_owned(),
    };
    format!("{folder}/{rest}")
}
