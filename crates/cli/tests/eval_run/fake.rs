//! A model's endpoint that answers what a test says, and remembers what it was asked.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
pub(crate) enum Reply {
    /// A whole answer.
    Json(Value),
    /// Events, sent byte for byte in small pieces.
    Events(Vec<u8>),
    /// A status, a header and an error.
    Refusal(u16, &'static str, Value),
    /// Nothing for this long, then the connection ends.
    Silence(Duration),
}

/// Decides on the answer: the request, and how many came before.
type Script = dyn Fn(&Asked, usize) -> Reply + Send + Sync;

/// The endpoint.
pub(crate) struct Fake {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    /// Begins to listen; its thread ends with the test.
    pub(crate) fn start(script: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (asked, script): (Arc<Mutex<Vec<Asked>>>, Arc<Script>) = (Arc::default(), Arc::new(script));
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, script) = (Arc::clone(&kept), Arc::clone(&script));
                std::thread::spawn(move || serve(stream, &asked, script.as_ref()));
            }
        });
        Self { url, asked }
    }

    /// What came, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn serve(stream: TcpStream, asked: &Mutex<Vec<Asked>>, script: &Script) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request = Asked { path, headers, body: serde_json::from_slice(&body).ok()? };
    let number = {
        let mut asked = asked.lock().ok()?;
        asked.push(request.clone());
        asked.len() - 1
    };
    answer(stream, script(&request, number))
}

fn answer(mut stream: TcpStream, reply: Reply) -> Option<()> {
    let head = |status: u16, more: &str| format!("HTTP/1.1 {status} X\r\nConnection: close\r\n{more}\r\n");
    match reply {
        Reply::Json(value) => write!(stream, "{}{value}", head(200, "Content-Type: application/json\r\n")).ok(),
        Reply::Refusal(status, header, value) => {
            let more = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
            write!(stream, "{}{value}", head(status, &more)).ok()
        }
        Reply::Events(bytes) => {
            stream.write_all(head(200, "Content-Type: text/event-stream\r\n").as_bytes()).ok()?;
            // Characters and events are cut in the middle.
            bytes.chunks(7).try_for_each(|piece| stream.write_all(piece)).ok()
        }
        Reply::Silence(time) => {
            std::thread::sleep(time);
            None
        }
    }
}

/// Events without names, as Chat Completions has them; the others read the type in the data.
pub(crate) fn events(list: &[Value]) -> Vec<u8> {
    let mut text = String::new();
    for event in list {
        let _ = write!(text, "data: {event}\n\n");
    }
    text.into_bytes()
}

/// An answer of an API with calls, each by its id, name and arguments, or with a text where there are none.
pub(crate) fn whole(api: &str, calls: &[(&str, &str, Value)]) -> Value {
    let text = |arguments: &Value| arguments.to_string();
    match api {
        "responses" => {
            let mut output =
                vec![json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAAAB", "summary": [] })];
            output.extend(calls.iter().map(|(id, name, arguments)| {
                json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": text(arguments) })
            }));
            if calls.is_empty() {
                output.push(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "done" }] }));
            }
            json!({ "object": "response", "status": "completed", "output": output,
                "usage": { "input_tokens": 100, "input_tokens_details": { "cached_tokens": 40 }, "output_tokens": 10 } })
        }
        "chat" => {
            let listed: Vec<Value> = calls
                .iter()
                .map(|(id, name, arguments)| {
                    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": text(arguments) } })
                })
                .collect();
            let mut message = json!({ "role": "assistant", "content": "done" });
            if !calls.is_empty() {
                message =
                    json!({ "role": "assistant", "content": null, "tool_calls": listed, "reasoning_content": "hm" });
            }
            json!({ "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": "stop", "message": message }],
                "usage": { "prompt_tokens": 100, "prompt_tokens_details": { "cached_tokens": 40 }, "completion_tokens": 10 } })
        }
        _ => {
            let mut content = vec![json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" })];
            content.extend(calls.iter().map(
                |(id, name, arguments)| json!({ "type": "tool_use", "id": id, "name": name, "input": arguments }),
            ));
            if calls.is_empty() {
                content.push(json!({ "type": "text", "text": "done" }));
            }
            json!({ "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn",
                "usage": { "input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 10 } })
        }
    }
}

/// The same as a stream, with the pieces of calls interleaved.
pub(crate) fn streamed(api: &str, calls: &[(&str, &str, Value)]) -> Vec<u8> {
    let whole = whole(api, calls);
    match api {
        "responses" => responses(&whole, calls),
        "chat" => chat(&whole, calls),
        _ => messages(&whole, calls),
    }
}

fn halves(arguments: &Value) -> [String; 2] {
    let text = arguments.to_string();
    let (one, other) = text.split_at(text.len() / 2);
    [one.to_owned(), other.to_owned()]
}

fn responses(whole: &Value, calls: &[(&str, &str, Value)]) -> Vec<u8> {
    let mut list = Vec::new();
    list.push(json!({ "type": "response.created", "response": { "id": "resp_1" } }));
    for (at, (id, name, _)) in calls.iter().enumerate() {
        let item =
            json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": "" });
        list.push(json!({ "type": "response.output_item.added", "output_index": at + 1, "item": item }));
    }
    for half in [0, 1] {
        for (at, (id, _, arguments)) in calls.iter().enumerate() {
            list.push(json!({ "type": "response.function_call_arguments.delta", "item_id": format!("fc_{id}"),
                        "output_index": at + 1, "delta": halves(arguments)[half] }));
        }
    }
    list.push(json!({ "type": "response.completed", "response": whole }));
    events(&list)
}

fn chat(whole: &Value, calls: &[(&str, &str, Value)]) -> Vec<u8> {
    let mut list = Vec::new();
    let chunk = |delta: Value| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta }] });
    let text = if calls.is_empty() { json!("done") } else { Value::Null };
    list.push(chunk(json!({ "role": "assistant", "content": text, "reasoning_content": "hm" })));
    for (at, (id, name, _)) in calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": "" });
        list.push(chunk(
            json!({ "tool_calls": [{ "index": at, "id": id, "type": "function", "function": function }] }),
        ));
    }
    for half in [0, 1] {
        for (at, (_, _, arguments)) in calls.iter().enumerate() {
            let function = json!({ "arguments": halves(arguments)[half] });
            list.push(chunk(json!({ "tool_calls": [{ "index": at, "function": function }] })));
        }
    }
    list.push(json!({ "id": "c", "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }));
    list.push(json!({ "id": "c", "choices": [], "usage": whole["usage"] }));
    [events(&list), b"data: [DONE]\n\n".to_vec()].concat()
}

fn messages(whole: &Value, calls: &[(&str, &str, Value)]) -> Vec<u8> {
    let mut list = Vec::new();
    let mut start = whole.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    list.push(json!({ "type": "message_start", "message": start }));
    let thinking = json!({ "type": "thinking", "thinking": "", "signature": "" });
    list.push(json!({ "type": "content_block_start", "index": 0, "content_block": thinking }));
    list.push(
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
    );
    list.push(json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "c2ln" } }));
    for (at, (id, name, _)) in calls.iter().enumerate() {
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        list.push(json!({ "type": "content_block_start", "index": at + 1, "content_block": block }));
    }
    for half in [0, 1] {
        for (at, (_, _, arguments)) in calls.iter().enumerate() {
            let delta = json!({ "type": "input_json_delta", "partial_json": halves(arguments)[half] });
            list.push(json!({ "type": "content_block_delta", "index": at + 1, "delta": delta }));
        }
    }
    list.extend((0..=calls.len()).map(|at| json!({ "type": "content_block_stop", "index": at })));
    list.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 10 } }),
    );
    list.push(json!({ "type": "message_stop" }));
    events(&list)
}
