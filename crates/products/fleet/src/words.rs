//! Words of messages. Pure texts.

/// A number with its noun: `1 server`, `2 servers`.
pub fn counted<N: std::fmt::Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_has_no_plural() {
        assert_eq!(
            [counted(0, "server"), counted(1, "server"), counted(2, "server")],
            ["0 servers", "1 server", "2 servers"]
        );
    }
}
