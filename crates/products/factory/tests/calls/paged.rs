//! Answers in pages.

use openapi::model::{Method, Operation, Place};
use serde_json::{Value, json};

use crate::scene::{Got, Upstream, callable, factory, failure, http, object, ok, operation, parameter, texts};

fn list() -> Operation {
    let integer = || json!({ "type": "integer" });
    let parameters = vec![
        parameter("page_token", Place::Query, json!({ "type": "string" })),
        parameter("page_size", Place::Query, integer()),
    ];
    operation(Method::Get, "/items", parameters)
}

/// Ten pages of two items.
fn pages(_: usize, got: &Got) -> Vec<u8> {
    let page: usize = got.line.split("page_token=p").nth(1).map_or(0, |page| page.parse().expect("a number"));
    let mut body = json!({ "items": [2 * page, 2 * page + 1] });
    if page < 9 {
        body["next_page_token"] = Value::from(format!("p{}", page + 1));
    }
    ok(&body.to_string())
}

#[tokio::test]
async fn a_cursor_leads_to_the_next_page() {
    let api = Upstream::start(pages).await;
    let call = callable(&factory(&api.url, "{}"), list());
    let names: Vec<_> = call.extras().iter().map(|extra| extra.name).collect();
    assert_eq!(names, ["cursor", "max_items"]);
    let first = call.call(object(json!({}))).await;
    assert_eq!(
        texts(&first),
        "{\"items\":[0,1],\"next_page_token\":\"p1\"}\nThere is more: call again with cursor `page_token=p1`"
    );
    let second = call.call(object(json!({ "cursor": "page_token=p1" }))).await;
    assert!(texts(&second).starts_with("{\"items\":[2,3]"), "{}", texts(&second));
    assert_eq!(api.got()[1].line, "GET /items?page_token=p1");
    for bad in ["p1", "id=3", "page_token=a&x=1"] {
        let answered = call.call(object(json!({ "cursor": bad }))).await;
        assert_eq!(failure(&answered), ("INVALID_INPUT", false), "{bad}");
    }
    assert_eq!(api.got().len(), 2);
}

#[tokio::test]
async fn so_many_items_are_fetched_as_are_wanted() {
    let api = Upstream::start(pages).await;
    let call = callable(&factory(&api.url, "{}"), list());
    for (most, items, requests, next) in [(1, 2, 1, true), (5, 6, 3, true), (6, 6, 3, true), (1000, 20, 10, false)] {
        let before = api.got().len();
        let answered = call.call(object(json!({ "max_items": most }))).await;
        let text = texts(&answered);
        let body: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        assert_eq!(body["items"].as_array().map(Vec::len), Some(items), "{most}");
        assert_eq!(api.got().len() - before, requests, "{most}");
        assert_eq!(text.contains("There is more"), next, "{most}");
    }
}

#[tokio::test]
async fn endless_pages_end() {
    let api =
        Upstream::start(|number, _| ok(&json!({ "items": [1], "next_page_token": format!("{number}") }).to_string()))
            .await;
    let call = callable(&factory(&api.url, "limits: { pages: 4 }"), list());
    let answered = call.call(object(json!({ "max_items": 1000 }))).await;
    assert!(texts(&answered).contains("Stopped after 4 pages"), "{}", texts(&answered));
    assert_eq!(api.got().len(), 4);
    let same = Upstream::start(|_, _| ok("{\"items\":[1],\"next_page_token\":\"same\"}")).await;
    callable(&factory(&same.url, "{}"), list()).call(object(json!({ "max_items": 1000 }))).await;
    assert_eq!(same.got().len(), 2, "a page that leads to itself is the last");
    let empty =
        Upstream::start(|number, _| ok(&json!({ "items": [], "next_page_token": format!("{number}") }).to_string()))
            .await;
    let call = callable(&factory(&empty.url, "limits: { pages: 4 }"), list());
    call.call(object(json!({ "max_items": 1000 }))).await;
    assert_eq!(empty.got().len(), 4, "a page without items may name another one, but not for ever");
}

/// Filters leave pages empty: only the cursor says what is the end.
#[tokio::test]
async fn an_empty_page_is_not_the_end() {
    let api = Upstream::start(|number, _| match number {
        0 => ok("{\"items\":[],\"next_page_token\":\"a\"}"),
        1 => ok("{\"items\":[1],\"next_page_token\":\"b\"}"),
        2 => ok("{\"items\":[],\"next_page_token\":\"c\"}"),
        _ => ok("{\"items\":[2]}"),
    })
    .await;
    let answered = callable(&factory(&api.url, "{}"), list()).call(object(json!({ "max_items": 9 }))).await;
    assert_eq!(texts(&answered), "{\"items\":[1,2]}", "and no cursor of the first page is left");
}

#[tokio::test]
async fn what_was_fetched_is_not_lost_when_time_is_over() {
    let api = Upstream::start(|number, got| match number {
        2 => b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nSILENCE".to_vec(),
        _ => pages(number, got),
    })
    .await;
    let call = callable(&factory(&api.url, "limits: { seconds: 1 }"), list());
    let answered = call.call(object(json!({ "max_items": 1000 }))).await;
    let text = texts(&answered);
    assert!(text.starts_with("{\"items\":[0,1,2,3]") && text.contains("cursor `page_token=p2`"), "{text}");
    assert!(text.ends_with("Stopped: no next page within 1s") && answered.failure.is_none(), "{text}");
}

#[tokio::test]
async fn the_cursor_is_named_as_the_tool_has_it() {
    let api = Upstream::start(|_, _| ok("{\"items\":[1],\"next_cursor\":\"x\"}")).await;
    let own = operation(Method::Get, "/items", vec![parameter("cursor", Place::Query, json!({ "type": "string" }))]);
    let call = factory(&api.url, "{}").operation("tool", own, &["cursor"], false).expect("callable");
    assert_eq!(call.extras()[0].name, "next_cursor");
    let text = texts(&call.call(object(json!({}))).await);
    assert!(text.contains("call again with next_cursor `cursor=x`"), "{text}");
}

#[tokio::test]
async fn many_pages_are_no_longer_than_one_answer_may_be() {
    let item = "x".repeat(1000);
    let api = Upstream::start(move |number, _| {
        ok(&json!({ "items": [item], "next_page_token": format!("{number}") }).to_string())
    })
    .await;
    let call = callable(&factory(&api.url, "limits: { answer_bytes: 3500 }"), list());
    let answered = call.call(object(json!({ "max_items": 1000 }))).await;
    assert!(texts(&answered).contains("Stopped before 3500 bytes"), "{}", texts(&answered));
    assert_eq!(api.got().len(), 4);
}

/// A small text can stand for very many values, which are all held at once.
#[tokio::test]
async fn many_pages_have_no_more_values_than_one_answer_may_have() {
    let api = Upstream::start(|number, _| {
        let row = vec![0; 200_000];
        ok(&json!({ "items": [row], "next_page_token": format!("p{number}") }).to_string())
    })
    .await;
    let answered = callable(&factory(&api.url, "{}"), list()).call(object(json!({ "max_items": 1000 }))).await;
    let text = texts(&answered);
    assert!(text.contains("Stopped before 500000 values") && answered.failure.is_none(), "{}", &text[..500]);
    assert!(text.contains("cursor `page_token=p1`"), "{}", &text[text.len() - 500..]);
    assert_eq!(api.got().len(), 3);
}

#[tokio::test]
async fn what_was_fetched_is_not_lost_when_a_page_fails() {
    let api = Upstream::start(|number, got| if number == 2 { http(400, "", "") } else { pages(number, got) }).await;
    let answered = callable(&factory(&api.url, "{}"), list()).call(object(json!({ "max_items": 1000 }))).await;
    let text = texts(&answered);
    assert!(text.starts_with("{\"items\":[0,1,2,3]") && text.contains("cursor `page_token=p2`"), "{text}");
    assert!(text.ends_with("Stopped: HTTP 400 for the next page") && answered.failure.is_none(), "{text}");
}

#[tokio::test]
async fn where_pages_are_can_be_configured() {
    let api = Upstream::start(|_, _| ok("{\"found\":{\"rows\":[1]},\"m\":{\"n\":\"abc\"},\"other\":[2]}")).await;
    let parameters = vec![parameter("from", Place::Query, json!({ "type": "string" }))];
    let search = || operation(Method::Get, "/search", parameters.clone());
    let plain = callable(&factory(&api.url, "{}"), search());
    assert_eq!(plain.extras(), []);
    let settings = "pagination: [{ tools: '*', cursor: from, next: /m/n, items: /found/rows }]";
    let call = callable(&factory(&api.url, settings), search());
    let answered = call.call(object(json!({ "max_items": 2 }))).await;
    assert!(texts(&answered).starts_with("{\"found\":{\"rows\":[1,1]}"), "{}", texts(&answered));
    assert_eq!(api.got()[1].line, "GET /search?from=abc");
    let off = callable(&factory(&api.url, "pagination: [{ tools: '*', off: true }]"), list());
    assert_eq!(off.extras(), []);
}
