//! Structured errors (SERF): six categories of failures, what a client does about each, and the members that say so. Our own
//! extension. Must not know which failures there are.

use serde_json::{Map, Value, json};

/// The member for the category.
pub const CATEGORY: &str = "category";
/// The member that says whether the same request can succeed later.
pub const RETRYABLE: &str = "retryable";
/// The member with the time until another try is worth it, in milliseconds.
pub const RETRY_AFTER_MS: &str = "retry_after_ms";
/// The member that says what to do: a list of strings.
pub const SUGGESTED_ACTIONS: &str = "suggested_actions";

/// What kind of failure it is, for the client that has to recover from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// The request is wrong.
    InvalidInput,
    /// What it names does not exist for this client.
    ResourceNotFound,
    /// Something is used up.
    ResourceExhausted,
    /// The client may not do this.
    PermissionDenied,
    /// A server behind this one failed.
    UpstreamFailure,
    /// The server failed.
    InternalError,
}

impl Category {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::InvalidInput,
        Self::ResourceNotFound,
        Self::ResourceExhausted,
        Self::PermissionDenied,
        Self::UpstreamFailure,
        Self::InternalError,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "INVALID_INPUT",
            Self::ResourceNotFound => "RESOURCE_NOT_FOUND",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::UpstreamFailure => "UPSTREAM_FAILURE",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }

    /// The category of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == word)
    }

    /// Whether the same request can ever succeed later: one that is wrong stays wrong.
    pub const fn may_be_retryable(self) -> bool {
        !matches!(self, Self::InvalidInput | Self::ResourceNotFound)
    }

    /// What a client does about it, in one word for programs.
    pub const fn recovery(self) -> &'static str {
        match self {
            Self::InvalidInput => "fix_input",
            Self::ResourceNotFound => "list_first",
            Self::ResourceExhausted => "back_off",
            Self::PermissionDenied => "ask_for_permission",
            Self::UpstreamFailure => "retry_if_not_run",
            Self::InternalError => "report",
        }
    }

    /// The same in words, where nothing better is known.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::InvalidInput => "Correct the request as the message says, then send it again",
            Self::ResourceNotFound => "List what there is, then ask for one of these names",
            Self::ResourceExhausted => "Wait `retry_after_ms`, then try again, each time after a longer wait",
            Self::PermissionDenied => "Get a token that is valid and has the scopes, or ask the user",
            Self::UpstreamFailure => {
                "If `outcome` is `not run`, try again after a wait. If it is `unknown`, look what the server did first"
            }
            Self::InternalError => "Do not try again: report it to those who run the service",
        }
    }
}

/// What is said of one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// What kind it is.
    pub category: Category,
    /// After which time the same request can succeed; none where it cannot, or where that is not known.
    pub retry_after_ms: Option<u64>,
    /// Whether the same request can succeed later.
    pub retryable: bool,
    /// What to do.
    pub suggested_actions: Vec<String>,
}

impl Details {
    /// A failure after which the same request is not worth another try.
    pub fn new(category: Category, action: &str) -> Self {
        let suggested_actions = vec![action.to_owned()];
        Self { category, retry_after_ms: None, retryable: false, suggested_actions }
    }

    /// A failure that is over after a time.
    pub fn retry(self, after_ms: u64) -> Self {
        Self { retryable: true, retry_after_ms: Some(after_ms), ..self }
    }

    /// Its members.
    pub fn members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put(CATEGORY, json!(self.category.as_str()));
        put(RETRYABLE, json!(self.retryable));
        put(SUGGESTED_ACTIONS, json!(self.suggested_actions));
        if let Some(after) = self.retry_after_ms {
            put(RETRY_AFTER_MS, json!(after));
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Category, Details};

    #[test]
    fn words_name_their_categories() {
        for category in Category::ALL {
            assert_eq!(Category::named(category.as_str()), Some(category));
        }
        assert_eq!([Category::named("invalid_input"), Category::named("OTHER"), Category::named("")], [None; 3]);
    }

    #[test]
    fn a_time_is_there_only_where_another_try_helps() {
        let full = Details::new(Category::ResourceExhausted, "Wait");
        let members = json!({ "category": "RESOURCE_EXHAUSTED", "retryable": false, "suggested_actions": ["Wait"] });
        assert_eq!(json!(full.members()), members);
        let members = json!({ "category": "RESOURCE_EXHAUSTED", "retryable": true, "suggested_actions": ["Wait"],
                              "retry_after_ms": 500 });
        assert_eq!(json!(full.retry(500).members()), members);
    }
}
