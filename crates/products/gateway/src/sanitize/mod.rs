//! Removes from messages of servers what clients are not to get: records of other tenants, secrets, personal data, characters
//! that nobody sees. All else passes byte for byte. Must not know which request a message answers.

mod envelope;
mod instructions;
mod loose;
mod personal;
mod reading;
mod records;

use std::borrow::Cow;
use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use guard::invisible;
use net::service::RpcError;
use wire::json::{Token, Tokens, duplicate_name, unquote, write_string};
use wire::redact::Redactor;
use wire::splice::{Splice, member, members};

use crate::failure;
use crate::settings::{Instructions, SanitizeSettings};

use self::envelope::Shape;
use self::records::{Filtered, Tenant, filtered};

/// How deep JSON may stand in texts of JSON.
const NESTED: usize = 8;
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
    instructions: Cell<usize>,
}

impl Removed {
    /// In words, for the audit log.
    pub(crate) fn summary(&self) -> String {
        let counts = [
            (&self.records, "records dropped"),
            (&self.texts, "texts changed"),
            (&self.cut, "texts cut"),
            (&self.instructions, "texts like instructions"),
        ];
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
        let all = members(text).ok_or(Withheld::Unreadable)?;
        // What a server says of a failure describes nothing, whatever was asked.
        let fails = member(text, &all, "error").is_some();
        let kind = if fails { Kind::Result } else { kind };
        let fields = self.settings.tenants.as_ref().filter(|_| kind == Kind::Result);
        let tenant = fields.map(|tenants| Tenant { fields: &tenants.fields, own });
        let has_free_data = kind == Kind::Message || fails;
        let pass = Pass { of: self, kind, tenant, removed, has_free_data, renamed: Cell::new(false) };
        let mut splice = Splice::new(text);
        pass.envelope(text, &mut splice)?;
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

impl Sanitizer {
    /// A JSON value without secrets and personal data; `None` where it has none.
    pub(crate) fn value(&self, text: &str) -> Result<Option<String>, Withheld> {
        let (removed, renamed) = (Removed::default(), Cell::new(false));
        let pass =
            Pass { of: self, kind: Kind::Result, tenant: None, removed: &removed, has_free_data: false, renamed };
        let changed = pass.data(text, 0)?;
        // Two names may have become one.
        if pass.renamed.get() && changed.as_deref().and_then(duplicate_name).is_some() {
            return Err(Withheld::Unreadable);
        }
        Ok(changed)
    }
}

/// One message on its way.
struct Pass<'p> {
    of: &'p Sanitizer,
    kind: Kind,
    tenant: Option<Tenant<'p>>,
    removed: &'p Removed,
    /// `data` is what its server likes, and not bytes.
    has_free_data: bool,
    /// A name of a member was changed.
    renamed: Cell<bool>,
}

impl Pass<'_> {
    /// What the protocol says the shape of: texts are changed, names stay. What servers choose the shape of is data.
    fn envelope(&self, text: &str, splice: &mut Splice<'_>) -> Result<(), Withheld> {
        let (mut tokens, mut name, mut data) = (Tokens::new(text), Cow::Borrowed(""), None::<(usize, usize)>);
        let mut shapes = Vec::new();
        while let Some((token, at)) = tokens.next_token().map_err(|_| Withheld::Unreadable)? {
            if let Some((start, depth)) = data {
                if tokens.depth() == depth && matches!(token, Token::ObjectEnd | Token::ArrayEnd) {
                    data = None;
                    if let Some(changed) = self.data(text.get(start..at.end).unwrap_or_default(), 0)? {
                        splice.replace(start..at.end, changed);
                    }
                }
                continue;
            }
            let (raw, shape) = (text.get(at.clone()).unwrap_or_default(), shapes.last().copied());
            self.is_own(shape, &name, token, raw)?;
            match token {
                Token::Name => name = unquote(raw),
                Token::ObjectStart | Token::ArrayStart => match self.shape(shape, &name) {
                    Shape::Data => data = Some((at.start, tokens.depth() - 1)),
                    inner => shapes.push(inner),
                },
                Token::ObjectEnd | Token::ArrayEnd => drop(shapes.pop()),
                _ => {}
            }
            if let Some(changed) = self.scalar(shape.unwrap_or(Shape::Fixed), &name, token, raw)? {
                splice.replace(at, quoted(&changed));
            }
            if token != Token::Name {
                // Items of a list are not what its name says.
                name = Cow::Borrowed("");
            }
        }
        Ok(())
    }

    /// The shape of what begins under a name.
    fn shape(&self, around: Option<Shape>, name: &str) -> Shape {
        match around {
            None => Shape::Fixed,
            Some(_) if name == "structuredContent" => Shape::Data,
            // A server that describes itself says nothing that is looked through.
            Some(_) if self.kind == Kind::Description => Shape::Kept,
            Some(around) => around.under(name),
        }
    }

    /// An object of the envelope that names another tenant cannot be dropped: nothing is left then.
    fn is_own(&self, shape: Option<Shape>, name: &str, token: Token, raw: &str) -> Result<(), Withheld> {
        let Some(tenant) = self.tenant.as_ref().filter(|_| !matches!(shape, None | Some(Shape::Kept))) else {
            return Ok(());
        };
        let is_value = !matches!(token, Token::Name | Token::ObjectEnd | Token::ArrayEnd);
        let is_another = is_value && !name.is_empty() && tenant.is_named_by(name) && tenant.is_another(token, raw);
        if is_another { Err(Withheld::Foreign) } else { Ok(()) }
    }

    /// A name, text or number of the envelope; `None` where it stays.
    fn scalar(&self, shape: Shape, name: &str, token: Token, raw: &str) -> Result<Option<String>, Withheld> {
        match token {
            Token::Name if shape.has_free_names() && self.kind != Kind::Description => {
                let changed = self.text(name, 0)?;
                self.renamed.set(self.renamed.get() || changed.is_some());
                Ok(changed)
            }
            Token::String => self.member(shape, name, &unquote(raw)),
            Token::Number if !shape.keeps_number(name) => Ok(self.number(raw)),
            _ => Ok(None),
        }
    }

    /// A number of a card is one without quotes, too.
    fn number(&self, raw: &str) -> Option<String> {
        (self.kind != Kind::Description).then(|| personal::masked(raw, &self.of.settings.personal)).flatten()
    }

    /// A text of the envelope; `None` where it stays.
    fn member(&self, shape: Shape, name: &str, given: &str) -> Result<Option<String>, Withheld> {
        if name == "blob" && self.kind == Kind::Result {
            return self.blob(given);
        }
        if shape.keeps_text(name) && !(name == "data" && self.has_free_data) {
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

    /// Bytes that are a text; `None` where they stay.
    fn blob(&self, given: &str) -> Result<Option<String>, Withheld> {
        let text = STANDARD.decode(given).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let changed = text.map(|text| self.seen(&text, 0)).transpose()?.flatten();
        count(&self.removed.texts, changed.is_some().into());
        Ok(changed.map(|text| STANDARD.encode(text)))
    }

    /// A text, which may be JSON; `None` where it stays.
    fn text(&self, given: &str, depth: usize) -> Result<Option<String>, Withheld> {
        // In JSON, hidden characters go text by text: one might begin what another ends, and hide what stands between.
        let is_cleaned = self.of.settings.hidden && !self.is_json(given);
        let clean = if is_cleaned { invisible::cleaned(given) } else { Cow::Borrowed(given) };
        let out = if self.kind == Kind::Description { None } else { self.seen(&clean, depth)? };
        let out = out.map_or(clean, Cow::Owned);
        if out == given {
            return Ok(None);
        }
        count(&self.removed.texts, 1);
        Ok(Some(out.into_owned()))
    }

    /// Whether a text is looked through as JSON.
    fn is_json(&self, text: &str) -> bool {
        self.kind != Kind::Description && text.trim_start().starts_with(['{', '[']) && is_complete(text)
    }

    /// A text as it is seen, without what must not be; `None` where it stays.
    fn seen(&self, text: &str, depth: usize) -> Result<Option<String>, Withheld> {
        if self.is_json(text) {
            return self.data(text, depth + 1);
        }
        if self.tenant.as_ref().is_some_and(|tenant| loose::names_another(text, tenant)) {
            return Err(Withheld::Unreadable);
        }
        if let Some(kind) = self.of.settings.instructions
            && instructions::reads_like_instructions(text)
        {
            count(&self.removed.instructions, 1);
            // What is withheld needs no other look.
            return match kind {
                Instructions::Withhold => Ok(Some(instructions::WITHHELD.to_owned())),
                Instructions::Mark => {
                    let changed = self.masked(text);
                    Ok(Some(format!("{}{}", instructions::MARK, changed.as_deref().unwrap_or(text))))
                }
            };
        }
        Ok(self.masked(text))
    }

    /// A text without personal data and secrets; `None` where it stays.
    fn masked(&self, text: &str) -> Option<String> {
        let masked = personal::masked(text, &self.of.settings.personal);
        if self.of.settings.secrets
            && let Cow::Owned(redacted) = self.of.redactor.redact_text(masked.as_deref().unwrap_or(text))
        {
            return Some(redacted);
        }
        masked
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
                Token::Number => self.number(given.get(at.clone()).unwrap_or_default()),
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

/// Whether the text is JSON.
fn is_complete(text: &str) -> bool {
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
