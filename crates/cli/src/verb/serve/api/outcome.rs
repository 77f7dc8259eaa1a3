//! An answer of the API as the result of a tool, in the form of the client's revision.

use openapi::answer::{Answered, Block};
use reference::catalogue::{Content, Output};
use serde_json::json;
use wire::Revision;
use wire::revision::{R2025_03_26, R2025_06_18};

/// The result.
pub(super) fn output(answered: Answered, revision: Revision) -> Output {
    let Answered { blocks, structured, failure, .. } = answered;
    let content = blocks.into_iter().filter_map(|block| content(block, revision)).collect();
    Output { content, structured, is_error: failure.is_some(), failure }
}

fn content(block: Block, revision: Revision) -> Option<Content> {
    Some(match block {
        Block::Text(text) => Content::text(text),
        Block::Image { data, media } => Content::Image { data: data.into(), mime_type: media.into() },
        Block::Audio { data, media } if revision.at_least(R2025_03_26) => {
            Content::Audio { data: data.into(), mime_type: media.into() }
        }
        Block::Audio { data, media } | Block::Blob { data, media } => {
            // It is here as a whole: nothing is read at this address.
            Content::Resource { resource: json!({ "uri": "answer://inline", "mimeType": media, "blob": data }) }
        }
        Block::Link { uri, media, size } if revision.at_least(R2025_06_18) => {
            Content::ResourceLink { resource: json!({ "uri": uri, "name": "answer", "mimeType": media, "size": size }) }
        }
        // The text before it has the address.
        Block::Link { .. } => return None,
    })
}
