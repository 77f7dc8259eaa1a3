//! docs/gateway-conformance.md: one section for each task that measures the gateway, between marks. Each task replaces its own.

use anyhow::Context as _;

use crate::root;

/// The page.
pub(crate) const PAGE: &str = "docs/gateway-conformance.md";

/// The sections.
pub(crate) const MATRIX: &str = "gateway-matrix";
pub(crate) const FAULTS: &str = "gateway-faults";
pub(crate) const PEERS: &str = "gateway-peers";
pub(crate) const CLIENTS: &str = "gateway-clients";

/// The page with a section replaced, or added at the end.
fn with(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
    let section = format!("{begin}\n{}\n{end}", text.trim());
    let found = page.find(&begin).zip(page.find(&end));
    match found {
        Some((from, to)) => format!("{}{section}{}", &page[..from], &page[to + end.len()..]),
        None => format!("{}\n\n{section}\n", page.trim_end()),
    }
}

/// Whether the page has this section as it is here.
pub(crate) fn has(name: &str, text: &str) -> anyhow::Result<bool> {
    let page = std::fs::read_to_string(root().join(PAGE)).context(PAGE)?;
    Ok(with(&page, name, text) == page)
}

/// Writes a section.
pub(crate) fn write(name: &str, text: &str) -> anyhow::Result<()> {
    let path = root().join(PAGE);
    let page = std::fs::read_to_string(&path).context(PAGE)?;
    let new = with(&page, name, text);
    if new != page {
        std::fs::write(&path, new).context(PAGE)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn a_section_is_replaced_and_the_rest_stays() {
        let page = with(&with("# Head\n", "a", "one\n"), "b", "two");
        assert_eq!(page, "# Head\n\n<!-- a -->\none\n<!-- end of a -->\n\n<!-- b -->\ntwo\n<!-- end of b -->\n");
        assert_eq!(with(&page, "a", "new"), page.replace("one", "new"));
    }
}
