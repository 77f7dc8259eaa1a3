//! What an installer did to one file, by what is left of it. Reads no configuration: marks in the text say what was there.

use super::files::{Case, Style};

/// A file at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) text: String,
    /// `None` where there is no file.
    pub(super) mode: Option<u32>,
    pub(super) is_link: bool,
}

/// What one installer did.
pub(super) struct Ran {
    pub(super) before: Seen,
    /// After a server was added.
    pub(super) added: Seen,
    /// Whether the first run reported success.
    pub(super) is_reported: bool,
    /// After a second server was added and both were removed.
    pub(super) removed: Seen,
}

/// Counts of what went wrong, in the order of [`MEASURES`].
pub(super) type Counts = [usize; 12];

/// What is counted, and the unit of one file.
pub(super) const MEASURES: [(&str, &str); 12] = [
    ("entries of other servers lost by adding", "entries lost by adding"),
    ("entries of other servers lost by removing", "entries lost by removing"),
    ("comments lost by adding", "comments lost by adding"),
    ("comments lost by removing", "comments lost by removing"),
    ("settings and choices of the user lost", "settings lost"),
    ("line ends or byte order marks changed", "line ends changed"),
    ("modes widened, or new files with a secret that others can read", "mode"),
    ("links replaced by files", "link replaced"),
    ("references in a syntax that the client does not know", "reference"),
    ("files that do not parse, and were changed", "broken file changed"),
    ("files that do not parse, and success was reported", "success reported"),
    ("files that differ after the servers were removed", "differs after removal"),
];

/// What went wrong with a file.
pub(super) fn judged(case: &Case, ran: &Ran) -> Counts {
    let Ran { before, added, removed, .. } = ran;
    let is_broken = case.style == Style::Broken;
    let lost = |mark: &str, from: &Seen, to: &Seen| {
        marks(&before.text, mark).filter(|mark| from.text.contains(*mark) && !to.text.contains(*mark)).count()
    };
    // Not where nothing was added: that is said by the exit code.
    let is_added = added.text.contains("weather-mcp@1.2.3");
    let expected = case.client.reference;
    let has_reference = expected.iter().any(|reference| added.text.contains(reference));
    let needs_reference = is_added && !expected.is_empty() && case.style != Style::New;
    let differs = !is_broken && !matches!(case.style, Style::New | Style::Update) && removed.text != before.text;
    [
        lost("entry-", before, added),
        lost("entry-", added, removed),
        lost("comment-", before, added),
        lost("comment-", added, removed),
        lost("member-", before, added),
        usize::from(!has_same_ends(&before.text, &added.text)),
        usize::from(is_widened(before, added)),
        usize::from(before.is_link && !(added.is_link && removed.is_link)),
        usize::from(needs_reference && !has_reference),
        usize::from(is_broken && added.text != before.text),
        usize::from(is_broken && ran.is_reported),
        usize::from(differs),
    ]
}

/// The words `MARK1`, `MARK2` … of a text.
fn marks<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(mark).filter_map(move |(at, _)| {
        let digits = text[at + mark.len()..].bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| &text[at..at + mark.len() + digits])
    })
}

fn has_same_ends(before: &str, after: &str) -> bool {
    const BOM: char = '\u{feff}';
    let lone = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
    before.is_empty()
        || (before.starts_with(BOM) == after.starts_with(BOM) && (!before.contains("\r\n") || lone(after) == 0))
}

/// Whether more people may read the file than before; of a new one, which has a secret, any but its owner.
fn is_widened(before: &Seen, after: &Seen) -> bool {
    let new = after.mode.unwrap_or(0) & 0o077;
    new & !before.mode.unwrap_or(0) != 0
}

#[cfg(test)]
mod tests {
    use super::super::files::{CASES, Style};
    use super::{Ran, Seen, judged};

    fn seen(text: &str) -> Seen {
        Seen { text: text.to_owned(), mode: Some(0o600), is_link: true }
    }

    fn first(style: Style) -> &'static super::Case {
        CASES.iter().find(|case| case.style == style).expect("every style is tried")
    }

    #[test]
    fn what_stays_is_no_loss_and_what_goes_is_one() {
        let case = first(Style::Crlf);
        let before = seen("\u{feff}// comment-1\r\nentry-1 member-1 comment-2\r\n");
        let with = |text: &str| Seen { text: format!("{}{text}", before.text), ..before.clone() };
        let added = with("weather-mcp@1.2.3 ${env:WEATHER_TOKEN}\r\n");
        let good = Ran { before: before.clone(), added, is_reported: true, removed: before.clone() };
        assert_eq!(judged(case, &good), [0; 12]);
        let bad = Seen {
            text: "weather-mcp@1.2.3 ${WEATHER_TOKEN}\ncomment-2".to_owned(),
            mode: Some(0o644),
            is_link: false,
        };
        let ran = Ran { before: before.clone(), added: bad, is_reported: true, removed: seen("entry-1 comment-1") };
        assert_eq!(judged(case, &ran), [1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1]);
        let broken = Ran { before, added: seen("x"), is_reported: true, removed: seen("x") };
        assert_eq!(judged(first(Style::Broken), &broken)[9..], [1, 1, 0]);
    }

    #[test]
    fn a_new_file_with_a_secret_is_the_owners_alone() {
        let case = first(Style::New);
        let ran = |mode| Ran {
            before: Seen::default(),
            added: Seen { mode: Some(mode), ..seen("weather-mcp@1.2.3") },
            is_reported: true,
            removed: Seen::default(),
        };
        assert_eq!((judged(case, &ran(0o600))[6], judged(case, &ran(0o640))[6]), (0, 1));
    }

    #[test]
    fn every_file_has_marks_to_lose() {
        for case in CASES.iter().filter(|case| case.style != Style::New) {
            let text = case.text().expect("a file");
            assert!(super::marks(&text, "entry-").count() + super::marks(&text, "member-").count() > 0, "{text}");
        }
    }
}
