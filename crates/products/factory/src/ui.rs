//! Pages that clients show for the results of tools (MCP Apps): files, served as resources. Knows nothing of what is in them.

use std::io::Read as _;
use std::path::PathBuf;

use crate::error::SetupError;
use crate::shown;

/// The media type of such a page.
pub const UI_MEDIA: &str = "text/html;profile=mcp-app";
/// How long a page may be, in bytes.
const LONGEST: u64 = 2 << 20;

/// A page, as the configuration has it.
#[derive(Clone, Debug)]
pub struct UiRule {
    /// The address of the resource: `ui://…`
    pub uri: String,
    /// The name of the resource.
    pub name: String,
    /// What it shows.
    pub description: Option<String>,
    /// The names of the tools whose results it shows.
    pub tools: Vec<String>,
    pub(crate) file: PathBuf,
}

impl UiRule {
    /// The page.
    pub fn html(&self) -> Result<String, SetupError> {
        let refuse = |why: String| {
            let what = format!("the page {} cannot be read: {why}", shown(&self.file.display().to_string()));
            SetupError::new(what, "the path of an HTML file, from the folder of the configuration")
        };
        let file = net::open_regular(&self.file).map_err(|error| refuse(error.to_string()))?;
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| refuse(error.to_string()))?;
        if bytes.len() as u64 > LONGEST {
            return Err(refuse("it is longer than 2 MiB".to_owned()));
        }
        String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))
    }
}
