//! Registrations and tokens by issuer, kept between runs in one JSON file that only its owner can read. Not the system's
//! keyring: on Linux it is a service that continuous integration does not have, and needs large libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::OAuthError;
use super::options::{Client, Credential};
use super::secret::{Secret, random};
use super::token_endpoint::Token;

/// The longest file that is read.
const MAX_FILE: u64 = 4 << 20;

/// The registration and the tokens of one issuer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The registered client.
    pub(crate) client: Option<Client>,
    /// Its tokens, by the resource that they are for.
    pub(crate) tokens: BTreeMap<String, Token>,
    /// The clients of the user's own whose credentials this issuer may get: the user agreed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) trusted_with: BTreeSet<String>,
}

impl Stored {
    /// Its tokens, and the secret of its client.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let client = self.client.iter().filter_map(|client| match &client.credential {
            Credential::Secret(secret) | Credential::Key { pem: secret, .. } => Some(secret),
            Credential::None => None,
        });
        client.chain(self.tokens.values().flat_map(|token| std::iter::once(&token.access).chain(&token.refresh)))
    }
}

/// The file.
#[derive(Clone, Debug)]
pub(crate) struct Cache(PathBuf);

impl Cache {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Loads the entry of `issuer`; an empty one where there is no file yet.
    pub(crate) fn load(&self, issuer: &str) -> Result<Stored, OAuthError> {
        Ok(self.read()?.remove(issuer).unwrap_or_default())
    }

    /// The issuer that the user agreed to give the credentials of `client` to.
    pub(crate) fn issuer_of(&self, client: &str) -> Result<Option<String>, OAuthError> {
        let mut all = self.read()?.into_iter();
        Ok(all.find(|(_, stored)| stored.trusted_with.contains(client)).map(|(issuer, _)| issuer))
    }

    /// Saves the entry of `issuer`, without tokens that are bound to the key of this process.
    pub(crate) fn store(&self, issuer: &str, stored: &Stored) -> Result<(), OAuthError> {
        let mut all = self.read()?;
        let mut stored = stored.clone();
        stored.tokens.retain(|_, token| !token.bound);
        all.insert(issuer.to_owned(), stored);
        let text = serde_json::to_vec_pretty(&all).map_err(|error| self.unusable(&error.to_string()))?;
        write(&self.0, &text).map_err(|error| self.unusable(&format!("it cannot be written: {error}")))
    }

    fn read(&self) -> Result<BTreeMap<String, Stored>, OAuthError> {
        let file = match net::open_regular(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.unusable(&format!("it cannot be read: {error}"))),
        };
        if is_open_to_others(&file) {
            return Err(self.unusable("others can read it"));
        }
        let mut text = Vec::new();
        file.take(MAX_FILE).read_to_end(&mut text).map_err(|error| self.unusable(&error.to_string()))?;
        serde_json::from_slice(&text).map_err(|_| self.unusable("it holds something else"))
    }

    fn unusable(&self, why: &str) -> OAuthError {
        let at = self.0.display().to_string();
        OAuthError::new(format!("the file of tokens cannot be used: {why}"), at, "remove it, or name another")
    }
}

/// Writes a temporary file and renames it: readers never see half of it, and no link is followed.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", &random()[..8]));
    let temporary = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options.open(&temporary).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

fn is_open_to_others(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(bound: bool) -> Token {
        Token { access: Secret::new("t"), bound, refresh: None, scopes: None, expires: None }
    }

    #[test]
    fn entries_of_issuers_are_separate() {
        let directory = tempfile::tempdir().expect("a directory");
        let cache = Cache::new(directory.path().join("deep/oauth.json"));
        let tokens = BTreeMap::from([("a".to_owned(), token(false)), ("b".to_owned(), token(true))]);
        cache.store("https://one.example", &Stored { tokens, ..Stored::default() }).expect("written");
        cache.store("https://two.example", &Stored::default()).expect("written");
        assert_eq!(cache.load("https://one.example").expect("read").tokens.keys().collect::<Vec<_>>(), ["a"]);
        assert!(cache.load("https://two.example").expect("read").tokens.is_empty());
        assert!(cache.load("https://one.example/").expect("read").tokens.is_empty());
        let files = fs::read_dir(directory.path().join("deep")).expect("a directory").count();
        assert_eq!(files, 1, "no temporary file is left");
    }

    #[test]
    fn only_the_owner_can_read_the_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("oauth.json");
        let cache = Cache::new(path.clone());
        cache.store("https://one.example", &Stored::default()).expect("written");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        for other in ["/dev/zero", directory.path().to_str().expect("text")] {
            let error = Cache::new(other.into()).load("https://one.example").expect_err("no file");
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        assert!(cache.load("https://one.example").is_err());
    }
}
