//! Removes from messages of servers what clients are not to get: records of other tenants, secrets, personal data, characters
//! that nobody sees. All else passes byte for byte. Must not know which request a message answers.

mod hidden;
mod personal;
mod records;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use net::service::RpcError;
use wire::json::{Token, Tokens, duplicate_name, unquote, write_string};
use wire::redact::Redactor;
use wire::splice::{Splice, member, members};

use crate::failure;
use crate::settings::SanitizeSettings;

pub(crate) use self::hidden::{is_hidden, narrow};
use self::records::{Filtered, Tenant, filtered};

/// How deep JSON may stand in texts of JSON.
const NESTED: usize = 8;
/// Members whose texts are names or bytes: another spelling would name something else.
const NAMES: [&str; 24] = [
    "$ref",
    "blob",
    "cacheScope",
    "createdAt",
    "cursor",
    "data",
    "elicitationId",
    "id",
    "lastUpdatedAt",
    "level",
    "method",
    "mimeType",
    "mode",
    "name",
    "nextCursor",
    "progressToken",
    "protocolVersion",
    "requestState",
    "resultType",
    "role",
    "taskId",
    "type",
    "uri",
    "uriTemplate",
];

/// What a message is, as far as it decides what is looked for in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What a server says of itself and of what it offers: only hidden characters go.
    Description,
    /// A result, in which records of other tenants may be.
    Result,
    /// A notification, or a question to the client.
    Message,
}

/// Why an answer is not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// It is larger than what is looked through.
    TooLarge,
    /// All of it belongs to another tenant.
    Foreign,
    /// It could not be looked through.
    Unreadable,
}

impl Withheld {
    /// The error in its place.
    pub(crate) fn error(self) -> RpcError {
        match self {
            Self::TooLarge => {
                failure::RESULT_TOO_LARGE.error("The result is withheld: it is larger than the gateway checks")
            }
            Self::Foreign => failure::RESULT_FOREIGN.error("The result is withheld: it is not for this client"),
            Self::Unreadable => failure::RESULT_UNREADABLE.error("The result is withheld: the gateway cannot check it"),
        }
    }
}

/// How much was removed.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    records: Cell<usize>,
    texts: Cell<usize>,
    cut: Cell<usize>,
}

impl Removed {
    /// In words, for the audit log.
    pub(crate) fn summary(&self) -> String {
        let counts = [(&self.records, "records dropped"), (&self.texts, "texts changed"), (&self.cut, "texts cut")];
        let said: Vec<_> =
            counts.iter().filter(|(n, _)| n.get() > 0).map(|(n, what)| format!("{} {what}", n.get())).collect();
        if said.is_empty() { "nothing to remove".to_owned() } else { said.join(", ") }
    }
}

fn count(counter: &Cell<usize>, more: usize) {
    counter.set(counter.get().saturating_add(more));
}

/// Removes what the configuration says.
pub(crate) struct Sanitizer {
    settings: SanitizeSettings,
    redactor: Redactor,
}

impl Sanitizer {
    pub(crate) fn new(settings: &SanitizeSettings) -> Self {
        Self { settings: settings.clone(), redactor: Redactor::masking() }
    }

    /// The claim that names the client's tenant, where records have tenants.
    pub(crate) fn tenant_claim(&self) -> Option<&str> {
        self.settings.tenants.as_ref().map(|tenants| tenants.claim.as_str())
    }

    /// A message as its client gets it.
    pub(crate) fn message<'t>(
        &self,
        text: &'t str,
        kind: Kind,
        own: Option<&str>,
        removed: &Removed,
    ) -> Result<Cow<'t, str>, Withheld> {
        if text.len() > self.settings.result_bytes {
            return Err(Withheld::TooLarge);
        }
        let fields = self.settings.tenants.as_ref().filter(|_| kind == Kind::Result);
        let tenant = fields.map(|tenants| Tenant { fields: &tenants.fields, own });
        let (renamed, has_free_data) = (Cell::new(false), Cell::new(false));
        let pass = Pass { of: self, kind, tenant, removed, has_free_data, renamed };
        let mut splice = Splice::new(text);
        let all = members(text).ok_or(Withheld::Unreadable)?;
        for body in ["result", "error", "params"] {
            if let Some(at) = member(text, &all, body) {
                pass.has_free_data.set(kind == Kind::Message || body == "error");
                pass.envelope(text, &at.value, &mut splice)?;
            }
        }
        if splice.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        let text = splice.finish();
        // Two names may have become one.
        if pass.renamed.get() && duplicate_name(&text).is_some() {
            return Err(Withheld::Unreadable);
        }
        Ok(Cow::Owned(text))
    }
}

/// One message on its way.
struct Pass<'p> {
    of: &'p Sanitizer,
    kind: Kind,
    tenant: Option<Tenant<'p>>,
    removed: &'p Removed,
    /// `data` is what its server likes, and not bytes.
    has_free_data: Cell<bool>,
    /// A name of a member was changed.
    renamed: Cell<bool>,
}

impl Pass<'_> {
    /// What the protocol says the shape of: texts are changed, names stay. What servers choose the shape of is data.
    fn envelope(&self, text: &str, span: &Range<usize>, splice: &mut Splice<'_>) -> Result<(), Withheld> {
        let part = text.get(span.clone()).ok_or(Withheld::Unreadable)?;
        let (mut tokens, mut name, mut data) = (Tokens::new(part), Cow::Borrowed(""), None::<(usize, usize)>);
        while let Some((token, at)) = tokens.next_token().map_err(|_| Withheld::Unreadable)? {
            let shifted = span.start + at.start..span.start + at.end;
            if let Some((start, depth)) = data {
                if tokens.depth() == depth && matches!(token, Token::ObjectEnd | Token::ArrayEnd) {
                    data = None;
                    let value = part.get(start..at.end).unwrap_or_default();
                    if let Some(changed) = self.data(value, 0)? {
                        splice.replace(span.start + start..shifted.end, changed);
                    }
                }
                continue;
            }
            match token {
                Token::Name => name = unquote(part.get(at).unwrap_or_default()),
                Token::ObjectStart | Token::ArrayStart => {
                    if self.is_data(&name) {
                        data = Some((at.start, tokens.depth() - 1));
                    }
                    // Items of a list are not what its name says.
                    name = Cow::Borrowed("");
                }
                Token::ObjectEnd | Token::ArrayEnd => name = Cow::Borrowed(""),
                Token::String => {
                    let given = unquote(part.get(at).unwrap_or_default());
                    if let Some(changed) = self.member(&name, &given)? {
                        splice.replace(shifted, quoted(&changed));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_data(&self, name: &str) -> bool {
        name == "structuredContent" || (name == "data" && self.has_free_data.get())
    }

    /// A text of the envelope; `None` where it stays.
    fn member(&self, name: &str, given: &str) -> Result<Option<String>, Withheld> {
        let is_free = name == "data" && self.has_free_data.get();
        if NAMES.contains(&name) && !is_free {
            return Ok(None);
        }
        let changed = self.text(given, 0)?;
        let most = self.of.settings.text_bytes.filter(|_| name == "text" && self.kind == Kind::Result);
        let now = changed.as_deref().unwrap_or(given);
        let Some(most) = most.filter(|most| now.len() > *most) else { return Ok(changed) };
        count(&self.removed.cut, 1);
        let shown = now.get(..now.floor_char_boundary(most)).unwrap_or_default();
        Ok(Some(format!("{shown}\n[The gateway cut this text: {} of {} bytes are shown]", shown.len(), now.len())))
    }

    /// A text, which may be JSON; `None` where it stays.
    fn text(&self, given: &str, depth: usize) -> Result<Option<String>, Withheld> {
        let clean = if self.of.settings.hidden { hidden::cleaned(given) } else { Cow::Borrowed(given) };
        let mut out = clean;
        if self.kind != Kind::Description {
            let begins = out.trim_start().starts_with(['{', '[']);
            if begins && members_or_items(&out) {
                if let Some(changed) = self.data(&out, depth + 1)? {
                    out = Cow::Owned(changed);
                }
            } else {
                if let Some(masked) = personal::masked(&out, &self.of.settings.personal) {
                    out = Cow::Owned(masked);
                }
                if self.of.settings.secrets
                    && let Cow::Owned(redacted) = self.of.redactor.redact_text(&out)
                {
                    out = Cow::Owned(redacted);
                }
            }
        }
        if out == given {
            return Ok(None);
        }
        count(&self.removed.texts, 1);
        Ok(Some(out.into_owned()))
    }

    /// JSON whose shape the server chooses; `None` where it stays.
    fn data(&self, given: &str, depth: usize) -> Result<Option<String>, Withheld> {
        if depth > NESTED {
            return Err(Withheld::Unreadable);
        }
        let mut out = Cow::Borrowed(given);
        match self.tenant.as_ref().map_or(Filtered::Same, |tenant| filtered(given, tenant)) {
            Filtered::Same => {}
            Filtered::Changed(text, dropped) => {
                count(&self.removed.records, dropped);
                out = Cow::Owned(text);
            }
            Filtered::Foreign => return Err(Withheld::Foreign),
        }
        if let Some(changed) = self.values(&out, depth)? {
            out = Cow::Owned(changed);
        }
        if self.of.settings.secrets
            && self.kind != Kind::Description
            && let Cow::Owned(redacted) = self.of.redactor.redact_message(&out)
        {
            count(&self.removed.texts, 1);
            out = Cow::Owned(redacted);
        }
        Ok(Some(out).filter(|out| out != given).map(Cow::into_owned))
    }

    /// Texts, names and numbers of data.
    fn values(&self, given: &str, depth: usize) -> Result<Option<String>, Withheld> {
        let (mut tokens, mut splice) = (Tokens::new(given), Splice::new(given));
        while let Some((token, at)) = tokens.next_token().map_err(|_| Withheld::Unreadable)? {
            let changed = match token {
                Token::String | Token::Name => self.text(&unquote(given.get(at.clone()).unwrap_or_default()), depth)?,
                // A number of a card is one without quotes, too.
                Token::Number if self.kind != Kind::Description => {
                    personal::masked(given.get(at.clone()).unwrap_or_default(), &self.of.settings.personal)
                }
                _ => None,
            };
            if let Some(changed) = changed {
                if token == Token::Name {
                    self.renamed.set(true);
                }
                splice.replace(at, quoted(&changed));
            }
        }
        Ok((!splice.is_empty()).then(|| splice.finish()))
    }
}

/// Whether the text is a JSON object or array.
fn members_or_items(text: &str) -> bool {
    let mut tokens = Tokens::new(text);
    loop {
        match tokens.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
