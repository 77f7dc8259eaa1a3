//! The page: what a run of the binary writes. What it looks like inside is held beside the code that makes it.

use crate::harness::{RECORDINGS, check, report, results, unmade};

#[test]
fn has_the_same_conclusion_as_other_reports() {
    for recording in RECORDINGS {
        let (page, human) = (check(recording, &["--format", "html"]), check(recording, &[]));
        assert_eq!(page.code, human.code, "{recording}");
        assert_eq!(page.stderr, "");
        assert!(page.stdout.starts_with("<!doctype html>\n") && page.stdout.ends_with("</html>\n"), "{recording}");
    }
}

#[test]
fn has_a_card_for_every_broken_rule_and_a_row_for_every_other() {
    for recording in RECORDINGS {
        let page = check(recording, &["--safety", "--format", "html"]).stdout;
        let report = report(recording, &["--safety"]);
        let mut cards = 0;
        for finding in results(&report) {
            let id = finding["rule"].as_str().expect("an id");
            let mark = match finding["outcome"].as_str() {
                Some("fail") => "f",
                Some("warn") => "w",
                _ => "",
            };
            cards += usize::from(!mark.is_empty());
            assert!(mark.is_empty() || page.contains(&format!("id=\"{mark}.{id}\"")), "no card for {id}");
            assert_eq!(page.matches(&format!("<tr data-rule=\"{id}\" data-l=")).count(), 1, "{id} in the matrix");
            assert_eq!(
                page.matches(&format!("<details class=\"rule\" id=\"r.{id}\">")).count(),
                1,
                "{id} among the rules"
            );
        }
        assert_eq!(page.matches("<article ").count(), cards, "{recording}");
    }
}

#[test]
fn escapes_hostile_text_and_marks_the_offending_part() {
    let page = check("broken.jsonl", &["--format", "html"]).stdout;
    let stray = page.chars().find(|c| *c != '\n' && wire::escape::character(*c) != c.to_string());
    assert_eq!(stray, None);
    assert!(page.contains("<h1><bdi>hostile \\u{1b}[2J\\u{202e} server 2.1.0</bdi></h1>"), "{page}");
    assert!(page.contains("<mark>\"5\"</mark>"), "{page}");
}

#[test]
fn goes_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.html");
    let to_file = ["--format", "html", "--output", &path.to_string_lossy()];
    let ran = check("broken.jsonl", &to_file);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    let written = std::fs::read_to_string(&path).expect("a page");
    let direct = check("broken.jsonl", &to_file[..2]).stdout;
    assert_eq!(unmade(&written, "broken.jsonl", &to_file), unmade(&direct, "broken.jsonl", &to_file[..2]));
}
