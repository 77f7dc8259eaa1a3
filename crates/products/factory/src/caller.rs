//! Who calls: what one caller consented to, or was answered, is not another's.

/// Who calls. Two callers are the same where all of it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// Whether this process serves one user: over stdio.
    pub is_only: bool,
    /// Whose token let the request in.
    pub principal: Option<String>,
    /// The session, by a number that no other has.
    pub session: Option<u64>,
}

impl Caller {
    /// The one user of this process.
    pub fn only() -> Self {
        Self { is_only: true, ..Self::default() }
    }

    /// By whom a consent is given: the principal, in all sessions, or else the session. `None`: the caller cannot be told from
    /// others.
    pub(crate) fn user(&self) -> Option<User> {
        match (&self.principal, self.session) {
            (Some(principal), _) => Some(User::Principal(principal.clone())),
            (None, _) if self.is_only => Some(User::Only),
            (None, Some(session)) => Some(User::Session(session)),
            (None, None) => None,
        }
    }
}

/// Who consents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum User {
    Only,
    Principal(String),
    Session(u64),
}

#[cfg(test)]
mod tests {
    use super::{Caller, User};

    #[test]
    fn a_consent_is_the_principals_or_else_the_sessions() {
        let caller = |principal: Option<&str>, session| Caller {
            is_only: false,
            principal: principal.map(str::to_owned),
            session,
        };
        assert_eq!(caller(Some("a"), Some(1)).user(), caller(Some("a"), Some(2)).user());
        assert_ne!(caller(Some("a"), None).user(), caller(Some("b"), None).user());
        assert_ne!(caller(None, Some(1)).user(), caller(None, Some(2)).user());
        assert_eq!(caller(None, None).user(), None);
        assert_eq!(Caller::only().user(), Some(User::Only));
    }
}
