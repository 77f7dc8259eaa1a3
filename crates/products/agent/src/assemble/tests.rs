//! Recorded streams of the three APIs, whole and broken, in any chunks.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Stream;
use crate::answer::Answered;
use crate::dialect::Dialect;

macro_rules! streams {
    ($($dialect:ident $name:literal: $expected:expr;)*) => {
        /// The API, the name of the fixture of `eval`, its bytes, and the calls or the beginning of the error.
        const STREAMS: &[(Dialect, &str, &[u8], Result<&[&str], &str>)] = &[$((
            Dialect::$dialect,
            $name,
            include_bytes!(concat!("../../../../foundation/eval/fixtures/", $name, ".sse")),
            $expected,
        )),*];
    };
}

const OSLO: &str = r#"forecast({"city":"Oslo","days":3})"#;
const ROME: &str = r#"forecast({"city":"Rome"})"#;

streams! {
    Responses "responses-interleaved": Ok(&[OSLO, ROME]);
    Responses "responses-shared-index": Ok(&[OSLO, ROME]);
    Responses "responses-missing-done": Err("the stream ended before `response.completed`");
    Responses "responses-cut-before-arguments": Err("the stream ended before `response.completed`");
    Responses "responses-error": Err("an error in the stream");
    Responses "responses-only-completed": Ok(&[OSLO]);
    Responses "responses-empty-delta": Ok(&[OSLO]);
    Chat "chat-interleaved": Ok(&[OSLO, ROME]);
    Chat "chat-shared-index": Ok(&[OSLO, ROME]);
    Chat "chat-all-in-one": Ok(&[OSLO, ROME]);
    Chat "chat-no-index": Ok(&[OSLO, ROME]);
    Chat "chat-repeated-identifier": Ok(&[OSLO, ROME]);
    Chat "chat-placeholder": Ok(&[OSLO, ROME]);
    Chat "chat-empty-deltas": Ok(&[OSLO]);
    Chat "chat-missing-done": Err("the stream ended before a `finish_reason` or `[DONE]`");
    Chat "chat-text-before-json": Ok(&["forecast!"]);
    Chat "chat-error": Err("an error in the stream");
    Messages "messages": Ok(&[OSLO, ROME]);
    Messages "messages-shared-index": Ok(&[OSLO, ROME]);
    Messages "messages-input-at-start": Ok(&[OSLO, "now({})"]);
    Messages "messages-cut": Err("the stream ended before `message_stop`");
    Messages "messages-refusal": Ok(&[]);
    Messages "messages-error": Err("an error in the stream");
}

fn read(dialect: Dialect, chunks: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Answered, String> {
    let mut stream = Stream::new(dialect);
    for chunk in chunks {
        stream.push(chunk.as_ref())?;
    }
    stream.finish()
}

fn calls(answer: &Answered) -> Vec<String> {
    let shown = |call: &eval::ToolCall| {
        let is_usable = call.parse.is_usable();
        if is_usable { format!("{}({})", call.name, json!(call.arguments)) } else { format!("{}!", call.name) }
    };
    answer.sample.calls.iter().map(shown).collect()
}

#[test]
fn streams_are_read_and_broken_ones_say_why() {
    for (dialect, name, bytes, expected) in STREAMS {
        match (read(*dialect, [bytes]), expected) {
            (Ok(answer), Ok(expected)) => assert_eq!(calls(&answer), *expected, "{name}"),
            (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{name}: {why}"),
            (other, _) => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn what_goes_back_has_the_calls_that_are_made() {
    for (dialect, name, bytes, expected) in STREAMS.iter().filter(|(.., expected)| expected.is_ok()) {
        let streamed = read(*dialect, [bytes]).expect("a whole stream");
        if streamed.sample.calls.iter().any(|call| !call.parse.is_usable()) {
            continue;
        }
        let text = streamed.whole.to_string();
        let whole = Answered::parse(*dialect, text.as_bytes()).expect("the form without a stream");
        assert_eq!(calls(&whole), *expected.as_ref().expect("calls"), "{name}: {}", streamed.whole);
        let ids = |answer: &Answered| answer.sample.calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&whole), ids(&streamed), "{name}");
    }
}

#[test]
fn the_fixtures_are_all_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../foundation/eval/fixtures");
    let files =
        std::fs::read_dir(folder).expect("the fixtures").filter_map(|file| file.ok()?.file_name().into_string().ok());
    let streams = files.filter_map(|name| name.strip_suffix(".sse").map(str::to_owned));
    // One speaks of functions before there were tools, one has two alternatives: neither is asked for.
    let unknown = streams.filter(|name| !["chat-legacy", "chat-choices"].contains(&name.as_str()));
    let missing: Vec<_> = unknown.filter(|name| STREAMS.iter().all(|(_, known, ..)| known != name)).collect();
    assert_eq!(missing, [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn chunks_change_nothing(at in 0..STREAMS.len(), cuts in prop::collection::vec(1_usize..400, 0..40)) {
        let (dialect, name, bytes, _) = STREAMS[at];
        let (mut chunks, mut rest) = (Vec::new(), bytes);
        for cut in cuts {
            let (chunk, later) = rest.split_at(cut.min(rest.len()));
            chunks.push(chunk);
            rest = later;
        }
        chunks.push(rest);
        prop_assert_eq!(read(dialect, chunks), read(dialect, [bytes]), "{}", name);
    }
}

fn events(events: &[Value]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
}

#[test]
fn reasoning_goes_back_whole() {
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary": [] });
    let response = json!({ "object": "response", "status": "completed", "output": [reasoning],
        "usage": { "input_tokens": 9, "input_tokens_details": { "cached_tokens": 4 }, "output_tokens": 2 } });
    let bytes = events(&[json!({ "type": "response.completed", "response": response })]);
    let answer = read(Dialect::Responses, [bytes]).expect("an answer");
    assert_eq!((&answer.whole, answer.tokens.map(|tokens| tokens.cached)), (&response, Some(4)));
    // Items that only came one by one.
    let empty = json!({ "object": "response", "status": "completed", "output": [] });
    let bytes = events(&[
        json!({ "type": "response.output_item.done", "output_index": 0, "item": reasoning }),
        json!({ "type": "response.completed", "response": empty }),
    ]);
    assert_eq!(read(Dialect::Responses, [bytes]).expect("an answer").whole["output"], json!([reasoning]));

    let bytes = events(&[
        json!({ "type": "message_start", "message": { "type": "message", "role": "assistant", "content": [],
            "usage": { "input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "c2ln" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]);
    let answer = read(Dialect::Messages, [bytes]).expect("an answer");
    assert_eq!(answer.whole["content"], json!([{ "type": "thinking", "thinking": "hm", "signature": "c2ln" }]));
    let tokens = answer.tokens.expect("tokens");
    assert_eq!((tokens.input, tokens.cached, tokens.output), (8, 3, 7));

    let chunk = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let bytes = events(&[
        chunk(json!({ "role": "assistant", "content": "", "reasoning_content": "h" })),
        chunk(json!({ "reasoning_content": "m", "content": "4" })),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 3, "completion_tokens": 2 } }),
    ]);
    let answer = read(Dialect::Chat, [bytes]).expect("an answer");
    let message = &answer.whole["choices"][0]["message"];
    assert_eq!((message["reasoning_content"].as_str(), message["content"].as_str()), (Some("hm"), Some("4")));
    assert_eq!(answer.tokens.map(|tokens| tokens.total()), Some(5));
}

#[test]
fn what_is_no_stream_of_the_api_is_an_error() {
    for dialect in [Dialect::Responses, Dialect::Chat, Dialect::Messages] {
        for bytes in
            [&b""[..], b"data: {\"a\n\n", b"data: not json\n\n", b"data: {\"error\":\"down\"}\n\n", b": ping\n\n"]
        {
            assert!(read(dialect, [bytes]).is_err(), "{dialect:?} {bytes:?}");
        }
    }
}

#[test]
fn the_values_that_a_stream_keeps_are_bounded() {
    let many = json!(vec![json!({ "": 0 }); 1000]);
    let text = many.to_string();
    let call = |arguments: &Value| json!([{ "index": 1, "function": { "arguments": arguments } }]);
    let heavy: [(Dialect, Value); 9] = [
        (Dialect::Chat, json!({ "choices": [{ "delta": { "junk": many } }] })),
        (Dialect::Chat, json!({ "choices": [{ "index": 7, "delta": { "tool_calls": call(&many) } }] })),
        (Dialect::Chat, json!({ "choices": [{ "delta": { "tool_calls": call(&json!(text)) } }] })),
        (Dialect::Responses, json!({ "type": "response.output_item.done", "item": { "type": "x", "junk": many } })),
        (Dialect::Responses, json!({ "type": "response.function_call_arguments.done", "arguments": many })),
        (Dialect::Responses, json!({ "type": "response.function_call_arguments.delta", "delta": text })),
        (Dialect::Messages, json!({ "type": "content_block_start", "content_block": { "type": "x", "junk": many } })),
        (Dialect::Messages, json!({ "type": "content_block_delta", "delta": { "partial_json": text } })),
        (Dialect::Messages, json!({ "type": "message_delta", "delta": { "junk": many } })),
    ];
    for (dialect, event) in heavy {
        let chunk = events(std::slice::from_ref(&event));
        let mut stream = Stream::new(dialect);
        let why = (0..150).find_map(|_| stream.push(&chunk).err());
        assert_eq!(why.as_deref(), Some("the answer has more than 200000 values"), "{dialect:?}");
    }
    let large = json!({ "type": "ping", "junk": vec![json!({ "": 0 }); 100_000] });
    assert!(Stream::new(Dialect::Messages).push(&events(&[large])).is_err(), "one event, though nothing of it is kept");
}

#[test]
fn long_streams_of_short_chunks_are_read() {
    let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
        { "index": 0, "delta": { "content": "w" }, "logprobs": null, "finish_reason": null }] });
    let (chunk, mut stream) = (events(&[chunk]), Stream::new(Dialect::Chat));
    for _ in 0..50_000 {
        stream.push(&chunk).expect("a chunk");
    }
    stream.push(b"data: [DONE]\n\n").expect("the end");
    let whole = stream.finish().expect("an answer").whole;
    assert_eq!(whole["choices"][0]["message"]["content"].as_str().map(str::len), Some(50_000));
}
