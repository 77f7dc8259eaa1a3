//! Letters of one script among those of another that look the same.

use std::ops::Range;

use super::confusable::{latin, styled};
use super::rule::Severity;
use super::text::runs;

/// A word that is not what it looks like.
pub(super) struct Lookalike {
    pub(super) span: Range<usize>,
    pub(super) looks: String,
    pub(super) severity: Severity,
    /// The script that the whole word is in: it is ordinary where a server writes in that script.
    pub(super) whole: Option<Script>,
}

/// A script that has look-alikes of Latin letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Script {
    Cyrillic,
    Greek,
    Armenian,
    Cherokee,
    /// Full width, among Chinese, Japanese and Korean.
    Wide,
    Other,
}

/// How many letters that look like no Latin one show that a server writes in a script.
pub(super) const NATIVE: usize = 4;

/// The first such word. A name may not have one at all.
pub(super) fn find(text: &str, is_name: bool) -> Option<Lookalike> {
    if text.is_ascii() {
        return None;
    }
    let has_cjk = text.chars().any(|c| script(c) == Script::Wide);
    runs(text, |c| c.is_alphanumeric() || c == '_').find_map(|word| {
        if word.text.is_ascii() {
            return None;
        }
        let count = |fits: &dyn Fn(char) -> bool| word.text.chars().filter(|c| fits(*c)).count();
        let ascii = count(&|c| c.is_ascii_alphabetic());
        let like = count(&|c| mimicked(c).is_some());
        let style = count(&|c| styled(c).is_some_and(|c| c.is_ascii_alphabetic()));
        let other = count(&|c| is_other(c) && !is_latin(c));
        // `μm` and `Δx` are usual; letters of other scripts that look like nothing Latin make it a word of theirs.
        let is_mixed = like > 0 && other == 0 && ascii >= 2 && ascii + like >= 4 && !is_symbol(word.text);
        let is_whole = is_name && like >= 4 && other == 0 && ascii == 0 && !text.chars().any(is_other);
        let is_mathematical = style >= 4 && word.text.chars().any(|c| c as u32 > 0xffff);
        let is_styled = is_name && style > 0 && !has_cjk;
        let is_wide = is_styled && ascii == 0 && word.text.chars().all(|c| !c.is_alphabetic() || is_wide(c));
        let whole = if is_whole {
            word.text.chars().find(|c| c.is_alphabetic()).map(script)
        } else {
            is_wide.then_some(Script::Wide)
        };
        (is_mixed || is_whole || is_mathematical || is_styled).then(|| Lookalike {
            looks: word.text.chars().map(|c| mimicked(c).or_else(|| styled(c)).unwrap_or(c)).collect(),
            severity: if is_name { Severity::High } else { Severity::Medium },
            span: word.span,
            whole,
        })
    })
}

/// How many letters a text has of each script that look like no Latin ones.
pub(super) fn native(text: &str) -> impl Iterator<Item = Script> {
    text.chars().filter(|c| is_other(*c)).map(script).filter(|script| *script != Script::Other)
}

/// The Latin letter that a letter looks like to readers of texts. Turkish has a letter of its own that looks like `i`.
fn mimicked(c: char) -> Option<char> {
    latin(c).filter(|_| c != 'ı')
}

/// A letter of another script or alphabet that looks like no Latin one.
fn is_other(c: char) -> bool {
    !c.is_ascii() && c.is_alphabetic() && mimicked(c).is_none() && styled(c).is_none()
}

/// Latin letters with marks, which are letters of the same words.
const fn is_latin(c: char) -> bool {
    matches!(c, '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && c != 'ı'
}

const fn is_wide(c: char) -> bool {
    matches!(c, '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}

/// Whether it is an abbreviation with one small Greek letter, as biology has them: `TNFα`, `NFκB`.
fn is_symbol(word: &str) -> bool {
    let mut greek = word.chars().filter(|c| mimicked(*c).is_some());
    greek.next().is_some_and(|c| matches!(c, 'α'..='ω'))
        && greek.next().is_none()
        && !word.contains(|c: char| c.is_ascii_lowercase() || c == '_')
}

const fn script(c: char) -> Script {
    match c {
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{2de0}'..='\u{2dff}' => Script::Cyrillic,
        '\u{530}'..='\u{58f}' => Script::Armenian,
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Script::Cherokee,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{20000}'..='\u{323af}' => Script::Wide,
        _ => Script::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Script, Severity, find};

    #[test]
    fn mixed_words_are_found() {
        for (text, is_name, looks) in [
            ("re\u{430}d_file", true, "read_file"),
            ("the p\u{430}ssword of it", false, "password"),
            ("\u{1d422}\u{1d420}\u{1d427}\u{1d428}\u{1d42b}\u{1d41e} it", false, "ignore"),
            ("\u{441}\u{43e}\u{440}\u{443}", true, "copy"),
            ("caf\u{e9}_re\u{430}d", true, "caf\u{e9}_read"),
            ("getUserN\u{3b1}me", true, "getUserName"),
            ("\u{ff52}\u{ff45}\u{ff41}\u{ff44}", true, "read"),
            ("re\u{ff41}d", true, "read"),
            ("REΑD_FILE", false, "READ_FILE"),
        ] {
            let found = find(text, is_name).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.looks.as_str(), found.severity == Severity::High), (looks, is_name), "{text}");
        }
    }

    #[test]
    fn words_of_one_script_are_not() {
        for text in [
            "Größe naïve",
            "5 μm, Δx, α-helix",
            "поиск файлов",
            "使用API检索",
            "Ωmega",
            "ＡＰＩキー",
            "сору",
            "TNFα and NFκB",
        ] {
            assert!(find(text, false).is_none(), "{text}");
        }
        for name in ["поиск", "kayıt_no", "Kayıtlar", "顧客ＩＤ", "顧客_ＩＤ", "TNFα", "IFNγ", "naïve", "größe"]
        {
            assert!(find(name, true).is_none(), "{name}");
        }
        let whole = |name| find(name, true).and_then(|found| found.whole);
        for name in ["НОМЕР", "АВТОР", "МЕСТО", "сахар"] {
            assert_eq!(whole(name), Some(Script::Cyrillic), "{name}");
        }
        assert_eq!(whole("ＩＤ"), Some(Script::Wide));
    }
}
