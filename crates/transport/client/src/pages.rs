//! Reads lists page by page (server/utilities/pagination): every page, and each cursor as it came.

use serde_json::{Map, Value};
use wire::error_code::INVALID_PARAMS;
use wire::{Era, Message};

use super::BoxFuture;
use super::params::raw_member;
use super::{Client, ClientError, Params};

/// How many pages a list may have.
const PAGES: usize = 1000;
/// How many bytes all pages of a list may have together.
const BYTES: usize = 32 << 20;

/// A whole list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The items of all pages.
    pub items: Vec<Value>,
    /// The first page's result, with the items of all pages and without a cursor.
    pub result: Map<String, Value>,
    /// The number of pages.
    pub pages: usize,
    /// The result of each page as it came: its text keeps what values lose, such as repeated names.
    pub texts: Vec<String>,
}

impl Client {
    /// Reads every page of a list; its items are in the member `key`.
    /// Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
    pub fn list<'a>(&'a self, method: &'a str, key: &'a str) -> BoxFuture<'a, Result<Listed, ClientError>> {
        Box::pin(self.all_pages(method, key))
    }

    async fn all_pages(&self, method: &str, key: &str) -> Result<Listed, ClientError> {
        match self.pages(method, key).await {
            // An invalid cursor invalidates the pages before it, too.
            Err((ClientError::Rpc { code: INVALID_PARAMS, .. }, 1..)) => {
                self.0.cache.forget(method);
                self.pages(method, key).await.map_err(|(error, _)| error)
            }
            listed => listed.map_err(|(error, _)| error),
        }
    }

    /// The same, or an error and the number of pages before it.
    async fn pages(&self, method: &str, key: &str) -> Result<Listed, (ClientError, usize)> {
        let mut listed = Listed::default();
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        while listed.pages < PAGES {
            let params = cursor.iter().fold(Params::new(), |params, cursor| params.with_raw("cursor", cursor));
            let page = self.cached(method, &params).await.map_err(|error| (error, listed.pages))?;
            let invalid = |why: &str| (ClientError::invalid(method, why), listed.pages);
            bytes += page.text().len();
            if bytes > BYTES {
                return Err(invalid(&format!("its pages have more than {} MiB together", BYTES >> 20)));
            }
            let result = page.result().and_then(Value::as_object).cloned().unwrap_or_default();
            let Some(Value::Array(items)) = result.get(key) else {
                return Err(invalid(&format!("no list of `{key}`")));
            };
            listed.items.extend(items.iter().cloned());
            listed.texts.push(page.body_text().unwrap_or_default().to_owned());
            let next = match result.get("nextCursor") {
                None => None,
                Some(Value::String(_)) => raw_member(&page, "nextCursor"),
                Some(_) => return Err(invalid("its `nextCursor` is no text")),
            };
            if next.is_some() && next == cursor {
                return Err(invalid("the cursor of the next page is that of this one"));
            }
            listed.pages += 1;
            if listed.pages == 1 {
                listed.result = result;
            }
            cursor = next;
            if cursor.is_none() {
                listed.result.remove("nextCursor");
                listed.result.insert(key.to_owned(), Value::Array(listed.items.clone()));
                return Ok(listed);
            }
        }
        Err((ClientError::invalid(method, format!("more than {PAGES} pages")), 0))
    }

    /// A request whose result is cached for its lifetime.
    pub(super) async fn cached(&self, method: &str, params: &Params) -> Result<Message, ClientError> {
        let key = params.to_json();
        if let Some(answer) = self.0.cache.fresh(method, &key) {
            return Ok(answer);
        }
        let answer = self.request(method, params).await?;
        if self.revision().era() == Era::Modern {
            self.0.cache.keep(method, &key, &answer);
        }
        Ok(answer)
    }
}
