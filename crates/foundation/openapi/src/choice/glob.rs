//! Patterns of paths: `*` stands for a part of one segment, `**` for any number of segments.

/// Whether a path fits a pattern. The work is bounded by the product of their lengths.
pub(super) fn fits(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_matches('/').split('/').collect();
    let path: Vec<&str> = path.trim_matches('/').split('/').collect();
    // Which prefixes of the path the pattern so far fits.
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        if part == "**" {
            let mut any = false;
            for (index, here) in reached.iter().enumerate() {
                any |= *here;
                next[index] = any;
            }
        } else {
            for (index, segment) in path.iter().enumerate() {
                next[index + 1] = reached[index] && segment_fits(part, segment);
            }
        }
        reached = next;
    }
    reached[path.len()]
}

fn segment_fits(pattern: &str, segment: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = segment.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_parts_and_segments() {
        for (pattern, path, expected) in [
            ("/pets", "/pets", true),
            ("/pets", "/pets/{id}", false),
            ("/pets/*", "/pets/{id}", true),
            ("/pets/*", "/pets/{id}/toys", false),
            ("/pets/**", "/pets/{id}/toys", true),
            ("/pets/**", "/pets", true),
            ("/pets/**", "/petshop", false),
            ("**/toys", "/pets/{id}/toys", true),
            ("/v*/pets", "/v2/pets", true),
            ("/*a*b*", "/xaxxbx", true),
            ("/a*a", "/a", false),
            ("/**", "/", true),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }
}
