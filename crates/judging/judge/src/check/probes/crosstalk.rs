//! Marks that come back: what a server is asked so that its answer shows whose it is, many requests at a time, and text of
//! every kind. Only tools that may be called anyway, and that turn out to be quick, are called more than once.

use std::time::{Duration, Instant};

use net::client::Outgoing;
use rules::safety::marks::mark;
use serde_json::{Map, Value, json};
use wire::{Message, RequestId, Transport};

use super::base::harmless;
use super::tools;
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// How many tools are tried, and how many prompts.
const TRIED: usize = 3;

/// What takes longer does more than give a text back: too much to be asked many times over.
const QUICK: Duration = Duration::from_secs(1);

/// How many requests are put at once.
const AT_ONCE: usize = 64;

/// A list with more items says too much to be asked for again and again.
const SHORT: usize = 100;

/// How to ask for a text to come back.
struct Echo {
    method: &'static str,
    name: String,
    arguments: Map<String, Value>,
    key: String,
}

impl Echo {
    fn params(&self, text: &str) -> Value {
        let mut arguments = self.arguments.clone();
        arguments.insert(self.key.clone(), json!(text));
        json!({ "name": self.name, "arguments": arguments })
    }

    /// What takes a free text: a few tools, those first whose names say what they do with it, and a few prompts.
    fn candidates(case: &ProbeContext) -> Vec<Self> {
        let mut tools = Self::tools(case);
        tools.sort_by_key(|echo| !echo.name.to_lowercase().contains("echo"));
        tools.truncate(TRIED);
        tools.extend(case.survey().prompts.iter().filter_map(Self::prompt).take(TRIED));
        tools
    }

    fn tools(case: &ProbeContext) -> Vec<Self> {
        let of = |(name, arguments): (String, Map<String, Value>)| {
            let tool = case.survey().tools.iter().find(|tool| tool.get("name") == Some(&json!(name)))?;
            let properties = tool.pointer("/inputSchema/properties")?.as_object()?;
            let (key, _) = properties.iter().find(|(_, schema)| takes_any_text(schema))?;
            Some(Self { method: "tools/call", name, arguments, key: key.clone() })
        };
        tools::callable(case).into_iter().filter_map(of).collect()
    }

    /// A prompt that cannot do without a text.
    fn prompt(prompt: &Value) -> Option<Self> {
        let required = |argument: &&Value| argument.get("required") == Some(&json!(true));
        let names = prompt.get("arguments")?.as_array()?.iter().filter(required);
        let names: Vec<_> = names.filter_map(|argument| argument.get("name")?.as_str()).collect();
        let key = (*names.first()?).to_owned();
        let arguments = names.into_iter().map(|name| (name.to_owned(), json!("proof"))).collect();
        Some(Self { method: "prompts/get", name: prompt.get("name")?.as_str()?.to_owned(), arguments, key })
    }

    /// One that is seen to give back what it is given, and how long that took.
    async fn find(case: &ProbeContext) -> Result<Option<(Self, Duration)>, Abort> {
        for echo in Self::candidates(case) {
            let text = mark(case.next_id());
            let begun = Instant::now();
            let reply = case.request(echo.method, echo.params(&text)).await?;
            if reply.0.is_some_and(|message| message.text().contains(&text)) {
                return Ok(Some((echo, begun.elapsed())));
            }
        }
        Ok(None)
    }
}

/// Whether a property takes texts of any kind, and no header mirrors it.
fn takes_any_text(schema: &Value) -> bool {
    let texts = schema.get("type") == Some(&json!("string"));
    let bounds = ["maxLength", "minLength", "format", "x-mcp-header", "contentEncoding"];
    texts
        && bounds.iter().all(|keyword| schema.get(keyword).is_none())
        && schema::plain::admits(schema, &json!("any text"))
}

/// What is asked at once.
struct Mixture {
    echo: Option<Echo>,
    lists: Vec<&'static str>,
}

impl Mixture {
    async fn find(case: &ProbeContext) -> Result<Self, Abort> {
        let survey = case.survey();
        let lists = [
            ("tools", "tools/list", survey.tools.len()),
            ("prompts", "prompts/list", survey.prompts.len()),
            ("resources", "resources/list", survey.resources.len()),
        ];
        let short = lists.into_iter().filter(|(capability, _, items)| survey.has(capability) && *items <= SHORT);
        let echo = Echo::find(case).await?.filter(|(_, took)| *took < QUICK).map(|(echo, _)| echo);
        Ok(Self { echo, lists: short.map(|(_, method, _)| method).collect() })
    }

    /// The request of that number: each kind in turn. The error of a method that nobody has often names it.
    fn ask(&self, case: &ProbeContext, id: &Value, number: usize) -> String {
        let own = mark(case.next_id());
        let (method, params) = match (number % 4, &self.echo) {
            (0 | 2, Some(echo)) => (echo.method.to_owned(), echo.params(&own)),
            (1, _) if !self.lists.is_empty() => (self.lists[number / 4 % self.lists.len()].to_owned(), json!({})),
            (3, _) => (harmless(case).to_owned(), json!({})),
            _ => (format!("proofhouse/{own}"), json!({})),
        };
        case.request_text(id, &method, params)
    }
}

pub(super) const AT_A_TIME: Probe = Probe::shared("many-at-once", at_a_time).safety().intrusive();

/// Dozens of requests at once, each of which can tell its answer.
fn at_a_time(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let mixture = Mixture::find(case).await?;
        // Alone: whether the error tells what was asked.
        case.request(&format!("proofhouse/{}", mark(case.next_id())), json!({})).await?;
        let mut asked = Vec::new();
        for number in 0..AT_ONCE {
            let id = case.next_id();
            case.say(&mixture.ask(case, &json!(id), number)).await?;
            asked.push(RequestId::from(id));
        }
        answers(case, asked).await;
        Ok(())
    })
}

/// Waits for all of them, no longer than for one. Whether all came.
async fn answers(case: &ProbeContext, ids: impl IntoIterator<Item = RequestId>) -> bool {
    let mut waiting = tokio::task::JoinSet::new();
    for id in ids {
        let (connection, patience) = (case.connection().clone(), case.tool_patience());
        waiting.spawn(async move { connection.response(&id, patience).await.is_some() });
    }
    waiting.join_all().await.into_iter().all(|came| came)
}

/// How many twins are to be under way at once, and how often that is tried: a quick server may have answered one before the
/// other is put.
const PAIRS: usize = 8;
const TRIES: usize = 8 * PAIRS;

/// How many may stay unanswered before no more are put.
const LOST: usize = 3;

pub(super) const ODD_IDS: Probe = Probe::disruptive("odd-ids", odd_ids).safety();

/// Ids that differ in their type alone, under way at once; then odd ones, at once as well.
fn odd_ids(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (mut together, mut lost) = (0, 0);
        for pair in 0..TRIES {
            let number = case.next_id();
            let mut twins = [json!(number), json!(number.to_string())];
            if pair % 2 == 1 {
                twins.reverse();
            }
            together += usize::from(say_all(case, &twins).await?);
            lost += usize::from(!answers(case, twins.iter().filter_map(RequestId::from_value)).await);
            // One that is lost tells as much as eight, where both were under way, and each takes its time.
            if together == PAIRS || (lost > 0 && together > 0) || lost == LOST {
                break;
            }
        }
        let odd = [
            json!(""),
            json!("i".repeat(1 << 10)),
            json!("\"quoted\" \\ and\nbroken\t\u{1}"),
            json!("\u{1f600}\u{1d11e}"),
            json!("null"),
            json!("0"),
            json!("-1"),
            json!(-9_007_199_254_740_991_i64),
        ];
        put_all(case, &odd).await?;
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}

/// Puts harmless requests under these ids, as fast as they go out. Whether the first was still under way with the last.
async fn say_all(case: &ProbeContext, ids: &[Value]) -> Result<bool, Abort> {
    let texts: Vec<_> = ids.iter().map(|id| case.request_text(id, harmless(case), json!({}))).collect();
    for text in texts {
        case.say(&text).await?;
    }
    let first = ids.first().and_then(RequestId::from_value);
    let came = |message: &Message| message.kind().is_response() && message.id() == first.as_ref();
    Ok(!case.connection().received().iter().any(came))
}

/// The same. Whether each was answered.
async fn put_all(case: &ProbeContext, ids: &[Value]) -> Result<bool, Abort> {
    say_all(case, ids).await?;
    Ok(answers(case, ids.iter().filter_map(RequestId::from_value)).await)
}

/// From scripts that are written from right to left, without case, beyond 16 bits.
const SCRIPTS: &str = " \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{65e5}\u{672c}\u{8a9e} \u{1f600} \u{1d11e} \u{20000} ";

/// Texts as they stand in JSON that many readers stumble over.
const ODD: [&str; 5] = [r"\u0000", r"\ud800", r"\udc00 and more", "\u{feff}", r"\ud83d\ud83d\ude00"];

/// What stands for a text until it is written: no JSON library would write it.
const TEXT: &str = "proof-text";

pub(super) const SCRIPTS_KEPT: Probe = Probe::shared("text-of-all-scripts", scripts_kept).safety();

/// A tool or prompt that gives texts back is given some from all over Unicode.
fn scripts_kept(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (echo, _) = Echo::find(case).await?.ok_or(Abort::Lacks("a tool or prompt that gives a text back"))?;
        for inner in [" plain ", SCRIPTS] {
            case.request(echo.method, echo.params(&framed(case, inner))).await?;
        }
        let id = case.next_id();
        let text = case.request_text(&json!(id), echo.method, echo.params(&framed(case, SCRIPTS)));
        case.ask(RequestId::from(id), Outgoing::message(escaped(&text)), case.tool_patience()).await?;
        Ok(())
    })
}

/// A text between two marks.
fn framed(case: &ProbeContext, inner: &str) -> String {
    format!("{}{inner}{}", mark(case.next_id()), mark(case.next_id()))
}

/// JSON with all that is not ASCII escaped.
fn escaped(json: &str) -> String {
    let unit = |unit: u16| match u8::try_from(unit).ok().filter(u8::is_ascii) {
        Some(plain) => char::from(plain).to_string(),
        None => format!("\\u{unit:04x}"),
    };
    json.encode_utf16().map(unit).collect()
}

pub(super) const ODD_TEXT: Probe = Probe::fresh("odd-text", odd_text).safety();

/// Odd texts in a request's metadata, and in an argument that is given back, each followed by a request
/// that is plain.
fn odd_text(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let echo = Echo::find(case).await?;
        for odd in ODD {
            let meta = json!({ "_meta": { "proofhouse/text": TEXT } });
            let mut heeded = stumble(case, harmless(case), meta, odd).await?;
            if let Some((echo, _)) = echo.as_ref().filter(|_| heeded) {
                heeded = stumble(case, echo.method, echo.params(TEXT), odd).await?;
            }
            // One silence tells all, and takes its time.
            if !heeded {
                break;
            }
        }
        Ok(())
    })
}

/// Puts a request with an odd text and waits for whatever is made of it, then asks something plain. Whether anything came.
async fn stumble(case: &ProbeContext, method: &str, params: Value, odd: &str) -> Result<bool, Abort> {
    let id = case.next_id();
    let text = case.request_text(&json!(id), method, params).replace(TEXT, odd);
    let exchange = case.connection().send_with(Outgoing::message(text)).await?;
    let heeded = if case.transport() == Transport::StreamableHttp {
        exchange.finished(case.short()).await
    } else {
        // An error may have lost the id.
        let own = RequestId::from(id);
        let answers = |m: &Message| m.kind().is_response() && m.id().is_none_or(|id| *id == own);
        case.connection().wait_for(answers, case.short()).await.is_some()
    };
    // Where that is not answered, nothing that follows would tell more.
    match case.request(harmless(case), json!({})).await?.0 {
        Some(_) => Ok(heeded),
        None => Err(Abort::Lacks("an answer to anything after an odd text")),
    }
}
