//! `get_weather`: made up from the name of the place, always the same for the same place; in lines, as a value, and in an app.

use serde_json::{Value, json};

use wire::meta::APP_MEDIA;

use crate::catalogue::{Content, Invocation, Outcome, Output, Resource, Tool};

/// The address of the app.
const APP: &str = "ui://proof-reference/weather.html";

pub(super) fn tool() -> Tool {
    let properties = json!({
        "location": { "type": "string", "minLength": 1, "description": "A city" },
        "units": { "type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius" },
    });
    Tool::now("get_weather", "Tells made-up weather, always the same for the same place", |_, invocation| {
        run(invocation)
    })
    .titled("Weather")
    .takes(properties, &["location"])
    .output(output())
    .app(APP)
}

/// The app that shows the weather, and asks for that of other places.
pub(super) fn app() -> Resource {
    Resource::text(APP, "weather-app", APP_MEDIA, include_str!("weather.html"))
        .told("Weather", "Shows a result of `get_weather`")
        .unlisted()
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "location": { "type": "string" },
            "temperature": { "type": "integer" },
            "units": { "type": "string", "enum": ["celsius", "fahrenheit"] },
            "conditions": { "type": "string" },
        },
        "required": ["location", "temperature", "units", "conditions"],
    })
}

fn run(invocation: &Invocation) -> Outcome {
    const CONDITIONS: [&str; 4] = ["clear", "cloudy", "rain", "snow"];
    let location = invocation.text("location").unwrap_or_default();
    let seed = location.bytes().fold(7_u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let celsius = i64::from(seed % 45) - 10;
    let units = invocation.text("units").unwrap_or("celsius");
    let temperature = if units == "celsius" { celsius } else { celsius * 9 / 5 + 32 };
    let conditions = CONDITIONS[(seed / 45 % 4) as usize];
    let unit = if units == "celsius" { "°C" } else { "°F" };
    let lines = format!("Current weather in {location}:\nTemperature: {temperature}{unit}\nConditions: {conditions}");
    let value = json!({
        "location": location, "temperature": temperature, "units": units, "conditions": conditions,
    });
    // 2025-06-18, server/tools#structured-content: the value as a text, too.
    let content = vec![Content::text(lines), Content::text(value.to_string())];
    Outcome::Done(Output { content, structured: Some(value), is_error: false, failure: None })
}
