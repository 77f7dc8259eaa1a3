//! The description of an API, from a file or an address, with its overlays.

use std::path::{Path, PathBuf};

use document::FileErrors;
use openapi::choice::overlay;
use openapi::{Api, Choice, LARGEST, Limits, read_chosen};
use serde_json::Value;
use url::Url;
use wire::escape;

use crate::exit::{Exit, tell, usage};
use crate::verb::given_file;

/// How large an overlay may be, in bytes.
const OVERLAY: u64 = 16 << 20;

/// A description that was read.
pub(crate) struct Described {
    /// The API, with the operations that were chosen.
    pub(crate) api: Api,
    /// Where it was fetched, if it was.
    pub(crate) at: Option<Url>,
    /// The description itself, after its overlays.
    pub(crate) value: Value,
}

/// Reads a description, after `overlays` and with the operations that `choice` picks.
pub(crate) async fn read(description: &str, overlays: &[PathBuf], choice: &Choice) -> Result<Described, Exit> {
    let (text, at) = text(description).await?;
    let mut value = value(description, &text)?;
    drop(text);
    for path in overlays {
        let name = path.display().to_string();
        let text = given_file::text(path, OVERLAY).map_err(|error| unread(&name, &error.to_string()))?;
        let found = overlay::apply(&mut value, &self::value(&name, &text)?);
        let applied = found.map_err(|error| {
            tell(format_args!("error: {}: {error}", escape::line(&name)));
            Exit::Usage
        })?;
        for idle in applied.idle.iter().take(5) {
            tell(format_args!("warning: {}: the action {} changes nothing", escape::line(&name), escape::line(idle)));
        }
    }
    let api = read_chosen(&value, &Limits::default(), choice).map_err(|error| {
        tell(format_args!("error: {}: {error}", escape::line(description)));
        Exit::Usage
    })?;
    Ok(Described { api, at, value })
}

async fn text(description: &str) -> Result<(String, Option<Url>), Exit> {
    if description.starts_with("http://") || description.starts_with("https://") {
        let fetched = factory::fetch(description, LARGEST).await;
        let (url, bytes) = fetched.map_err(|error| usage(&escape::line(&error.what), &error.remedy))?;
        let text = String::from_utf8(bytes).map_err(|_| unread(description, "it is not UTF-8"))?;
        return Ok((text, Some(url)));
    }
    let text = given_file::text(Path::new(description), LARGEST as u64);
    Ok((text.map_err(|error| unread(description, &error.to_string()))?, None))
}

fn unread(name: &str, why: &str) -> Exit {
    usage(
        &format!("{} cannot be read: {}", escape::line(name), escape::line(why)),
        "the path or the URL of a description",
    )
}

fn value(name: &str, text: &str) -> Result<Value, Exit> {
    match openapi::parse(text) {
        // A key that is there twice: the first one counts.
        Ok((value, _)) => Ok(value),
        Err(error) => {
            tell(FileErrors::new(name, vec![error]));
            Err(Exit::Usage)
        }
    }
}
