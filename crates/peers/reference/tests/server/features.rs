//! Every method and every tool, at every revision.

use serde_json::{Value, json};
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::{LineClient, client_capabilities};

fn names(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_handshake_agrees_on_every_legacy_revision() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        let mut talk = LineClient::fresh(revision);
        let answer = talk.shake_hands(client_capabilities()).await;
        assert_eq!(answer["result"]["protocolVersion"], revision.as_str());
        let completions = answer["result"]["capabilities"].get("completions").is_some();
        assert_eq!(completions, revision != R2024_11_05);
        assert_eq!(answer["result"]["serverInfo"].get("title").is_some(), revision.at_least(R2025_06_18));
        let again = json!({
            "protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        });
        assert_eq!(talk.error("initialize", again).await["code"], -32600);
        assert_eq!(talk.result("ping", json!({})).await, json!({}));
    }
}

#[tokio::test]
async fn unknown_versions_get_the_newest_of_the_handshake() {
    for version in ["2026-07-28", "1999-01-01", ""] {
        let mut talk = LineClient::fresh(R2025_11_25);
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        assert_eq!(talk.result("initialize", params).await["protocolVersion"], "2025-11-25", "{version:?}");
    }
}

#[tokio::test]
async fn discover_tells_versions_and_capabilities() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let result = talk.result("server/discover", json!({})).await;
    let all: Vec<_> = Revision::ALL.iter().rev().map(|r| r.as_str()).collect();
    assert_eq!(result["supportedVersions"], json!(all));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "proof-reference");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "public");
}

#[tokio::test]
async fn tools_are_listed_as_the_revision_has_them() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let list = talk.result("tools/list", json!({})).await["tools"].take();
        let names = names(&list);
        assert_eq!(names[0], "echo");
        for (tool, since) in [
            ("get_audio", R2025_03_26),
            ("get_resource_link", R2025_06_18),
            ("ask", R2025_06_18),
            ("route", R2026_07_28),
        ] {
            assert_eq!(names.contains(&tool.to_owned()), revision.at_least(since), "{tool} at {revision}");
            if !revision.at_least(since) {
                let params = json!({ "name": tool, "arguments": {} });
                assert_eq!(talk.error("tools/call", params).await["code"], -32602);
            }
        }
        let echo = &list[0];
        assert_eq!(echo.get("annotations").is_some(), revision.at_least(R2025_03_26));
        assert_eq!(echo.get("title").is_some(), revision.at_least(R2025_06_18));
        assert_eq!(echo.get("icons").is_some(), revision.at_least(R2025_11_25));
        assert_eq!(list[1].get("outputSchema").is_some(), revision.at_least(R2025_06_18));
    }
}

/// Calls every tool that needs no client, and holds each result against the schema.
#[tokio::test]
async fn every_tool_can_be_called_with_what_its_schema_asks() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let tools = talk.result("tools/list", json!({})).await["tools"].take();
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            if ["sample", "sample_with_tools", "list_roots", "visit"].contains(&name) || name.starts_with("ask") {
                continue;
            }
            let arguments = match name {
                "echo" => json!({ "message": "hi" }),
                "sum" => json!({ "a": 1, "b": 2.5 }),
                "get_weather" => json!({ "location": "Oslo", "units": "fahrenheit" }),
                _ => json!({}),
            };
            let id = talk.send("tools/call", json!({ "name": name, "arguments": arguments })).await;
            let all = talk.until(id).await;
            let result = &all.last().unwrap()["result"];
            assert_eq!(result["isError"] == true, name == "fail", "{revision} {name}: {result}");
            assert_eq!(result["content"].is_array(), result["isError"].is_boolean(), "{revision} {name}: {result}");
            let structured = result.get("structuredContent");
            let promised = tool.get("outputSchema");
            assert_eq!(structured.is_some(), promised.is_some(), "{revision} {name}");
            if let (Some(structured), Some(schema)) = (structured, promised) {
                jsonschema::validate(schema, structured).unwrap();
                let texts = result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str());
                let values = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
                assert!(values.into_iter().any(|value| value == *structured), "{revision} {name}: {result}");
            }
        }
    }
}

#[tokio::test]
async fn contents_are_what_they_say() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let block = |mut result: Value| result["content"][0].take();
    let echo = talk.call("echo", json!({ "message": "ü \u{1f600} \\ \" \n" })).await;
    assert_eq!(block(echo), json!({ "type": "text", "text": "ü \u{1f600} \\ \" \n" }));
    let image = block(talk.call("get_image", json!({})).await);
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    let audio = block(talk.call("get_audio", json!({})).await);
    assert_eq!((&audio["type"], &audio["mimeType"]), (&json!("audio"), &json!("audio/wav")));
    let link = block(talk.call("get_resource_link", json!({})).await);
    assert_eq!((&link["type"], &link["uri"]), (&json!("resource_link"), &json!("proof://docs/readme")));
    let embedded = block(talk.call("get_embedded_resource", json!({})).await);
    assert_eq!((&embedded["type"], &embedded["resource"]["mimeType"]), (&json!("resource"), &json!("text/markdown")));
    let weather = talk.call("get_weather", json!({ "location": "Bern" })).await;
    assert_eq!(block(weather)["text"], "Current weather in Bern:\nTemperature: -2°C\nConditions: rain");
    let sum = talk.call("sum", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(sum["structuredContent"], json!({ "sum": 5 }));
    let huge = talk.call("sum", json!({ "a": 1e308, "b": 1e308 })).await;
    assert_eq!(huge["isError"], true);
    let failed = talk.call("fail", json!({ "reason": "because" })).await;
    let (content, is_error) = (&failed["content"], &failed["isError"]);
    assert_eq!((content, is_error), (&json!([{ "type": "text", "text": "because" }]), &json!(true)));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_as_the_revision_wants() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        for (tool, arguments) in [
            ("echo", json!({})),
            ("echo", json!({ "message": 1 })),
            ("echo", json!({ "message": "x", "more": 1 })),
            ("get_weather", json!({ "location": "Oslo", "units": "kelvin" })),
            ("slow", json!({ "steps": 0 })),
        ] {
            let params = json!({ "name": tool, "arguments": arguments });
            if revision.at_least(R2025_11_25) {
                assert_eq!(talk.result("tools/call", params).await["isError"], true, "{revision} {tool} {arguments}");
            } else {
                assert_eq!(talk.error("tools/call", params).await["code"], -32602, "{revision} {tool} {arguments}");
            }
        }
        for params in [
            json!({ "name": "nobody" }),
            json!({}),
            json!({ "name": 1 }),
            json!({ "name": "echo", "arguments": [] }),
            json!({ "name": "echo", "arguments": { "message": "x" }, "_meta": { "progressToken": 1.5 } }),
        ] {
            assert_eq!(talk.error("tools/call", params.clone()).await["code"], -32602, "{revision} {params}");
        }
    }
}

#[tokio::test]
async fn progress_is_reported_to_whoever_gave_a_token() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        for token in [json!("t"), json!(7)] {
            let arguments = json!({ "steps": 3, "delay_ms": 1 });
            let params = json!({ "name": "slow", "arguments": arguments, "_meta": { "progressToken": token } });
            let id = talk.send("tools/call", params).await;
            let all = talk.until(id).await;
            assert_eq!(all.len(), 4);
            for (step, message) in all[..3].iter().enumerate() {
                assert_eq!(message["method"], "notifications/progress");
                assert_eq!(message["params"]["progressToken"], token);
                assert_eq!(message["params"]["progress"], json!(step + 1));
                assert_eq!(message["params"].get("message").is_some(), revision.at_least(R2025_03_26));
            }
        }
        talk.call("slow", json!({ "delay_ms": 1 })).await;
    }
}

#[tokio::test]
async fn resources_are_listed_in_pages() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let first = talk.result("resources/list", json!({})).await;
        assert_eq!(first["resources"].as_array().unwrap().len(), 3);
        let cursor = first["nextCursor"].as_str().unwrap();
        let second = talk.result("resources/list", json!({ "cursor": cursor })).await;
        assert_eq!(names(&second["resources"]), ["counter"]);
        assert!(second.get("nextCursor").is_none());
        for bad in [json!(""), json!("nonsense"), json!(format!("{cursor}A")), json!(1)] {
            assert_eq!(talk.error("resources/list", json!({ "cursor": bad })).await["code"], -32602);
        }
        // A cursor belongs to one list.
        for list in ["tools/list", "prompts/list", "resources/templates/list"] {
            assert_eq!(talk.error(list, json!({ "cursor": cursor })).await["code"], -32602, "{list}");
        }
    }
}

#[tokio::test]
async fn resources_can_be_read() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        for (uri, member, mime) in [
            ("proof://docs/welcome", "text", "text/plain"),
            ("proof://docs/readme", "text", "text/markdown"),
            ("proof://images/pixel", "blob", "image/png"),
            ("proof://counter", "text", "text/plain"),
            ("proof://greeting/ada", "text", "text/plain"),
            ("proof://city/norway/oslo", "text", "text/plain"),
        ] {
            let contents = talk.result("resources/read", json!({ "uri": uri })).await["contents"].take();
            assert_eq!(contents[0]["uri"], uri);
            assert_eq!(contents[0]["mimeType"], mime);
            assert!(contents[0][member].is_string());
        }
        for uri in [
            "proof://nowhere",
            "proof://extra",
            "proof://greeting/",
            "proof://greeting/../x",
            "proof://city/norway/",
            "proof://city/oslo",
            "file:///etc/passwd",
        ] {
            let error = talk.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!(error["code"], if revision.era() == Era::Legacy { -32002 } else { -32602 });
            assert_eq!(error["data"]["uri"], uri);
        }
        let templates = talk.result("resources/templates/list", json!({})).await;
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "proof://greeting/{name}");
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled_in() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let list = talk.result("prompts/list", json!({})).await;
        let mut known = vec!["code_review", "bug_report", "refactor", "describe_image"];
        known.extend(revision.at_least(R2025_03_26).then_some("describe_sound"));
        known.push("summarize_resource");
        assert_eq!(names(&list["prompts"]), known);
        let arguments = json!({ "code": "let x;", "language": "rust" });
        let review = talk.result("prompts/get", json!({ "name": "code_review", "arguments": arguments })).await;
        let text = review["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("let x;") && text.contains("rust"), "{text}");
        assert_eq!(review["description"], "Asks for a review of some code");
        let params = json!({ "name": "code_review", "arguments": { "code": "x = 1" } });
        let usual = talk.result("prompts/get", params).await;
        assert_eq!(usual["messages"][0]["content"]["text"], "Please review this Python code:\n\nx = 1");
        let image = talk.result("prompts/get", json!({ "name": "describe_image" })).await;
        assert_eq!(image["messages"][0]["content"]["type"], "image");
        let arguments = json!({ "uri": "proof://docs/readme" });
        let resource =
            talk.result("prompts/get", json!({ "name": "summarize_resource", "arguments": arguments })).await;
        assert_eq!(resource["messages"][1]["content"]["resource"]["uri"], "proof://docs/readme");
        for params in [
            json!({ "name": "nobody" }),
            json!({ "name": "extra_prompt" }),
            json!({ "name": "code_review" }),
            json!({ "name": "code_review", "arguments": { "code": 1 } }),
            json!({ "name": "summarize_resource", "arguments": { "uri": "proof://nowhere" } }),
        ] {
            assert_eq!(talk.error("prompts/get", params.clone()).await["code"], -32602, "{params}");
        }
    }
}

#[tokio::test]
async fn arguments_are_completed() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let params = |reference: Value, name: &str, value: &str| json!({ "ref": reference, "argument": { "name": name, "value": value } });
        let prompt = json!({ "type": "ref/prompt", "name": "code_review" });
        let template = json!({ "type": "ref/resource", "uri": "proof://greeting/{name}" });
        let found = talk.result("completion/complete", params(prompt.clone(), "language", "Ja")).await;
        assert_eq!(found["completion"], json!({ "values": ["java", "javascript"], "total": 2, "hasMore": false }));
        let found = talk.result("completion/complete", params(template.clone(), "name", "a")).await;
        assert_eq!(found["completion"]["values"], json!(["ada", "alan"]));
        let city = json!({ "type": "ref/resource", "uri": "proof://city/{country}/{city}" });
        let mut known = params(city, "city", "");
        let every = talk.result("completion/complete", known.clone()).await;
        assert_eq!(every["completion"]["total"], 6);
        if revision.at_least(R2025_06_18) {
            known["context"] = json!({ "arguments": { "country": "Norway" } });
            let some = talk.result("completion/complete", known).await;
            assert_eq!(some["completion"]["values"], json!(["bergen", "oslo"]));
        }
        let none = talk.result("completion/complete", params(prompt.clone(), "code", "x")).await;
        assert_eq!(none["completion"]["values"], json!([]));
        for bad in [
            params(prompt, "nothing", ""),
            params(template, "nothing", ""),
            params(json!({ "type": "ref/prompt", "name": "nobody" }), "code", ""),
            params(json!({ "type": "ref/resource", "uri": "x:y" }), "name", ""),
            params(json!({ "type": "ref/else" }), "name", ""),
            json!({}),
        ] {
            assert_eq!(talk.error("completion/complete", bad.clone()).await["code"], -32602, "{bad}");
        }
    }
}

fn logged(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["params"]["level"].as_str()).collect()
}

#[tokio::test]
async fn legacy_sessions_set_their_log_level() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        let mut talk = LineClient::start(revision).await;
        assert_eq!(talk.result("logging/setLevel", json!({ "level": "error" })).await, json!({}));
        let id = talk.send("tools/call", json!({ "name": "log" })).await;
        assert_eq!(logged(&talk.until(id).await), ["error", "critical", "alert", "emergency"]);
        talk.result("logging/setLevel", json!({ "level": "debug" })).await;
        let id = talk.send("tools/call", json!({ "name": "log", "arguments": { "level": "debug" } })).await;
        assert_eq!(logged(&talk.until(id).await), ["debug"]);
        for params in [json!({}), json!({ "level": "loud" }), json!({ "level": 3 })] {
            assert_eq!(talk.error("logging/setLevel", params).await["code"], -32602);
        }
    }
}

#[tokio::test]
async fn modern_requests_say_their_log_level_or_hear_nothing() {
    let mut talk = LineClient::start(R2026_07_28).await;
    talk.call("log", json!({})).await;
    let meta = json!({ "io.modelcontextprotocol/logLevel": "alert" });
    let id = talk.send("tools/call", json!({ "name": "log", "_meta": meta })).await;
    assert_eq!(logged(&talk.until(id).await), ["alert", "emergency"]);
    let meta = json!({ "io.modelcontextprotocol/logLevel": "loud" });
    assert_eq!(talk.error("tools/call", json!({ "name": "log", "_meta": meta })).await["code"], -32602);
}

#[tokio::test]
async fn each_era_has_its_own_methods() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let foreign: &[&str] = match revision.era() {
            // Asked without `_meta` these are modern by their names, and then lack it; with it they are simply served.
            Era::Legacy if revision == R2025_11_25 => &["nobody/knows", "tasks/update"],
            Era::Legacy => &["nobody/knows", "tasks/list"],
            Era::Modern => &[
                "initialize",
                "ping",
                "logging/setLevel",
                "resources/subscribe",
                "resources/unsubscribe",
                "tasks/list",
                "tasks/result",
                "nobody/knows",
            ],
        };
        for method in foreign {
            assert_eq!(talk.error(method, json!({})).await["code"], -32601, "{method} at {revision}");
        }
    }
}

#[tokio::test]
async fn the_app_of_a_tool_is_named_only_to_clients_that_show_apps() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let list = talk.result("tools/list", json!({})).await;
        assert!(!list.to_string().contains("ui://"), "{revision}: {list}");
        let mut apps = client_capabilities();
        apps["extensions"] = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } });
        let mut talk = LineClient::fresh(revision);
        let mut params = json!({});
        if revision.era() == Era::Legacy {
            talk.shake_hands(apps).await;
        } else {
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = apps;
        }
        let list = talk.result("tools/list", params).await;
        let tools = list["tools"].as_array().expect("tools");
        let weather = tools.iter().find(|tool| tool["name"] == "get_weather").expect("the weather");
        let uri = "ui://proof-reference/weather.html";
        let has_meta = revision.at_least(R2025_06_18);
        assert_eq!(weather["_meta"]["ui"]["resourceUri"] == uri, has_meta, "{revision}: {weather}");
        if revision.era() == Era::Modern {
            assert_eq!(list["cacheScope"], "private");
        }
        let resources = talk.result("resources/list", json!({})).await;
        assert!(!resources.to_string().contains("ui://"), "{revision}: only the tool names it");
        let read = talk.result("resources/read", json!({ "uri": uri })).await;
        assert_eq!(read["contents"][0]["mimeType"], "text/html;profile=mcp-app");
    }
}
