//! A reader of the text format of Prometheus that takes nothing which the format forbids.

use std::collections::{BTreeMap, BTreeSet};

/// One sample: its name, its labels in order, its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// A page that was read.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    pub(crate) kinds: BTreeMap<String, String>,
    pub(crate) samples: Vec<Sample>,
}

impl Exposition {
    /// The value of the only sample with this name and these labels.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let fits = |sample: &&Sample| {
            sample.name == name
                && labels.iter().all(|(label, text)| sample.labels.get(*label).is_some_and(|value| value == text))
        };
        let mut found = self.samples.iter().filter(fits);
        let first = found.next()?;
        assert!(found.next().is_none(), "several samples of {name}");
        Some(first.value)
    }
}

fn is_name(text: &str, more: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || more.contains(c);
    text.starts_with(begins) && text.chars().all(|c| begins(c) || c.is_ascii_digit())
}

/// Reads a page, or says what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Exposition, String> {
    if !text.ends_with('\n') {
        return Err("the last line has no end".to_owned());
    }
    let (mut page, mut current, mut helped) = (Exposition::default(), String::new(), BTreeSet::new());
    for line in text.lines() {
        let wrong = |what: &str| format!("{what}: {line}");
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or_else(|| wrong("no help"))?;
            if !helped.insert(name.to_owned()) || help.is_empty() {
                return Err(wrong("a second or an empty help"));
            }
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or_else(|| wrong("no type"))?;
            if !is_name(name, ":") || !["counter", "gauge", "histogram"].contains(&kind) || !helped.contains(name) {
                return Err(wrong("not a type, or no help before it"));
            }
            if page.kinds.insert(name.to_owned(), kind.to_owned()).is_some() {
                return Err(wrong("a second type"));
            }
            name.clone_into(&mut current);
        } else {
            let sample = sample(line).ok_or_else(|| wrong("not a sample"))?;
            let kind = page.kinds.get(&current).map(String::as_str).unwrap_or_default();
            let rest = sample.name.strip_prefix(&current).ok_or_else(|| wrong("a sample outside its family"))?;
            let fits = match kind {
                "counter" => rest.is_empty() && current.ends_with("_total") && sample.value >= 0.0,
                "gauge" => rest.is_empty(),
                _ => ["_bucket", "_sum", "_count"].contains(&rest),
            };
            if !fits {
                return Err(wrong("not a sample of its family"));
            }
            if page.samples.iter().any(|one| one.name == sample.name && one.labels == sample.labels) {
                return Err(wrong("a second sample"));
            }
            page.samples.push(sample);
        }
    }
    histograms(&page)?;
    Ok(page)
}

/// `name{label="text",…} value`
fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"")?;
            let (text, after) = quoted(after)?;
            if !is_name(label, "") || labels.insert(label.to_owned(), text).is_some() {
                return None;
            }
            let Some(next) = after.strip_prefix(',') else {
                rest = after.strip_prefix('}')?;
                break;
            };
            rest = next;
        }
    }
    let value = rest.strip_prefix(' ')?.parse().ok()?;
    is_name(name, ":").then(|| Sample { name: name.to_owned(), labels, value })
}

/// A text up to its quotation mark, unescaped, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    None
}

/// Buckets are cumulative, end at `+Inf`, and the last one is the count.
fn histograms(page: &Exposition) -> Result<(), String> {
    for (family, _) in page.kinds.iter().filter(|(_, kind)| *kind == "histogram") {
        let mut rows: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        let without = |labels: &BTreeMap<String, String>| {
            let mut labels = labels.clone();
            let bound = labels.remove("le");
            (format!("{labels:?}"), bound)
        };
        for sample in page.samples.iter().filter(|one| one.name == format!("{family}_bucket")) {
            let (key, bound) = without(&sample.labels);
            let bound = bound.and_then(|bound| bound.parse().ok()).ok_or("a bucket without a bound")?;
            rows.entry(key).or_default().push((bound, sample.value));
        }
        for (key, buckets) in rows {
            if !buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1) {
                return Err(format!("buckets out of order: {family} {key}"));
            }
            let last = buckets.last().copied().unwrap_or_default();
            let of = |suffix: &str| {
                let name = format!("{family}{suffix}");
                page.samples.iter().find(|one| one.name == name && without(&one.labels).0 == key).map(|one| one.value)
            };
            if last.0 != f64::INFINITY || of("_count") != Some(last.1) || of("_sum").is_none() {
                return Err(format!("no +Inf, or not the count: {family} {key}"));
            }
        }
    }
    Ok(())
}

#[test]
fn the_reader_refuses_what_the_format_forbids() {
    let good = "# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"1\"} 1\n";
    assert!(read(good).is_ok());
    let histogram =
        "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 1\nh_count 3\n";
    assert!(read(histogram).is_ok());
    for (text, from, to) in [
        (good, "1\n", "1"),
        (good, "# HELP a_total A.\n", ""),
        (good, "# TYPE a_total counter\n", ""),
        (good, "counter", "count"),
        (good, "x=\"1\"", "x=\"1"),
        (good, "x=\"1\"", "x=\"\\d\""),
        (good, "x=\"1\"", "x=\"1\",x=\"2\""),
        (good, "a_total{x=\"1\"} 1\n", "a_total{x=\"1\"} 1\na_total{x=\"1\"} 2\n"),
        (good, "} 1", "} -1"),
        (good, "} 1", "} one"),
        (histogram, "} 2", "} 4"),
        (histogram, "h_count 3", "h_count 4"),
        (histogram, "h_bucket{le=\"+Inf\"} 3\n", ""),
    ] {
        let bad = text.replacen(from, to, 1);
        assert!(bad != text && read(&bad).is_err(), "{bad}");
    }
}
