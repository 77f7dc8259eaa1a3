//! Where a store is: a file of SQLite, or a database of Postgres. No text that is made here holds a password.

use std::fmt;
use std::path::{Path, PathBuf};

use url::Url;

use crate::StoreError;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file.
    Sqlite(PathBuf),
    /// A database server.
    Postgres(PostgresAddress),
}

/// A database of Postgres. Its `Debug` and `Display` show host, port and database alone.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
    pub(crate) user: String,
    pub(crate) password: Option<String>,
    pub(crate) ca: Option<PathBuf>,
}

impl Location {
    /// Reads what a variable holds: an address of Postgres, or an absolute path. Other text may be an address with a slip, and
    /// hold a password: no error quotes it.
    pub fn of_variable(name: &str, text: &str) -> Result<Self, StoreError> {
        if Path::new(text).is_absolute()
            || ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
        {
            return Self::parse(text);
        }
        let what = format!("the variable {name} holds neither an address of Postgres nor an absolute path");
        Err(StoreError::invalid(what, "use postgres://USER:PASSWORD@HOST/DATABASE, or the full path of a file"))
    }

    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslrootcert=FILE`, or takes the text as the path of a file.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some("postgres" | "postgresql") => PostgresAddress::parse(text).map(Self::Postgres),
            Some(_) => {
                let remedy = "use the path of a file, or postgres://USER:PASSWORD@HOST/DATABASE";
                Err(StoreError::invalid("the store has an address of another kind", remedy))
            }
            None if text.is_empty() || text.contains('\0') => {
                Err(StoreError::invalid("the path of the store is empty", "give the path of a file"))
            }
            None => Ok(Self::Sqlite(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => path.display().fmt(f),
            Self::Postgres(address) => address.fmt(f),
        }
    }
}

impl PostgresAddress {
    fn parse(text: &str) -> Result<Self, StoreError> {
        let form = "use postgres://USER:PASSWORD@HOST:PORT/DATABASE";
        // The URL may hold a password: no error quotes it.
        let url = Url::parse(text).map_err(|_| StoreError::invalid("the address of Postgres is not a URL", form))?;
        let database = url.path().trim_start_matches('/');
        let (Some(host), false) = (url.host_str().filter(|host| !host.is_empty()), database.is_empty()) else {
            return Err(StoreError::invalid("the address of Postgres has no host or no database", form));
        };
        if url.username().is_empty() {
            return Err(StoreError::invalid("the address of Postgres has no user", form));
        }
        let mut ca = None;
        for (name, value) in url.query_pairs() {
            if name != "sslrootcert" {
                return Err(StoreError::invalid(
                    "the address of Postgres has an unknown parameter",
                    "only sslrootcert=FILE is known; TLS is used wherever it can be",
                ));
            }
            ca = Some(PathBuf::from(value.as_ref()));
        }
        Ok(Self {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: url.port().unwrap_or(5432),
            database: decoded(database),
            user: decoded(url.username()),
            password: url.password().map(decoded),
            ca,
        })
    }

    /// Whether the server is on this machine: only then may the connection be in the clear.
    pub(crate) fn is_local(&self) -> bool {
        self.host == "localhost" || self.host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    pub(crate) fn ca(&self) -> Option<&Path> {
        self.ca.as_deref()
    }
}

/// A part of a URL without its percent signs.
fn decoded(part: &str) -> String {
    // In a form, `+` is a space: here it stands for itself.
    let form = format!("v={}", part.replace('+', "%2B"));
    url::form_urlencoded::parse(form.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "postgres://{host}:{}/{}", self.port, self.database)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_sqlite_and_a_password_is_never_shown() {
        assert_eq!(Location::parse("a/fleet.db"), Ok(Location::Sqlite(PathBuf::from("a/fleet.db"))));
        let location = Location::parse("postgres://anna:p%40ss+w%2Frd@db.example:5433/fleet?sslrootcert=%2Fca.pem");
        let location = location.expect("an address");
        assert_eq!(location.to_string(), "postgres://db.example:5433/fleet");
        assert!(!format!("{location:?}").contains("ss"), "{location:?}");
        let by_number = Location::parse("postgres://anna@[fd00::1]/fleet").expect("an address");
        assert_eq!(by_number.to_string(), "postgres://[fd00::1]:5432/fleet");
        let Location::Postgres(address) = location else { panic!("not Postgres") };
        assert_eq!((address.user.as_str(), address.password.as_deref()), ("anna", Some("p@ss+w/rd")));
        assert_eq!(address.ca(), Some(Path::new("/ca.pem")));
        assert!(!address.is_local());
    }

    #[test]
    fn other_addresses_are_refused_without_quoting_them() {
        for bad in [
            "",
            "mysql://u:s3cret@h/d",
            "postgres://u:s3cret@h",
            "postgres://h/s3cret",
            "postgres:///s3cret",
            "postgres://u:s3cret@h:x/d",
            "postgres://u:s3cret@h/d?sslmode=disable",
            "postgres://u:p@h/d?s3cret",
        ] {
            let error = Location::parse(bad).expect_err(bad).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_variable_holds_an_address_or_an_absolute_path() {
        for bad in ["host=db user=u password=s3cret", "postgres//u:s3cret@h/d", "postgres:u:s3cret@h", "s3cret.db", ""]
        {
            let error = Location::of_variable("FLEET_STORE", bad).expect_err(bad).to_string();
            assert!(error.contains("FLEET_STORE") && !error.contains("s3cret"), "{error}");
        }
        assert_eq!(Location::of_variable("S", "/a/fleet.db"), Ok(Location::Sqlite(PathBuf::from("/a/fleet.db"))));
        assert!(matches!(Location::of_variable("S", "postgres://u:p@h/d"), Ok(Location::Postgres(_))));
    }
}
