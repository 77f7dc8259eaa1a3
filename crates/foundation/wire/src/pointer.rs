//! JSON pointers (RFC 6901): names escaped and unescaped. Must not know what a pointer points into.

/// A member's name as one segment of a pointer.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that one segment of a pointer stands for.
pub fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// The pointer to the member `name` of what `parent` points to.
pub fn member(parent: &str, name: &str) -> String {
    format!("{parent}/{}", escape(name))
}

/// The names along a pointer, unescaped.
pub fn names(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(unescape)
}

#[cfg(test)]
mod tests {
    use super::{escape, member, names, unescape};

    #[test]
    fn names_survive_escaping() {
        for name in ["", "plain", "a/b", "~", "~1", "~0/~01", "//", "ü"] {
            assert_eq!(unescape(&escape(name)), name);
            assert!(!escape(name).contains('/'));
        }
    }

    #[test]
    fn a_pointer_is_taken_apart_as_it_was_built() {
        let pointer = member(&member("", "a/b"), "m~n");
        assert_eq!(pointer, "/a~1b/m~0n");
        assert_eq!(names(&pointer).collect::<Vec<_>>(), ["a/b", "m~n"]);
        assert_eq!(names("").count(), 0);
    }
}
