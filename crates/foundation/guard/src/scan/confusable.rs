//! Letters that look like Latin ones: what matters of Unicode's list of confusables for names and English words.

/// Look-alikes of lower and upper case, each after the ASCII letter that it looks like.
const LIKE: &[(char, &str)] = &[
    ('a', "аɑαа"),
    ('c', "сϲᴄⅽ"),
    ('d', "ԁⅾ"),
    ('e', "еҽ℮"),
    ('g', "ɡց"),
    ('h', "һհ"),
    ('i', "іιıⅰӏ"),
    ('j', "јϳ"),
    ('k', "κᴋ"),
    ('l', "ⅼ"),
    ('m', "ⅿ"),
    ('n', "ոռ"),
    ('o', "оοօᴏ"),
    ('p', "рρ"),
    ('q', "ԛզ"),
    ('s', "ѕꜱ"),
    ('t', "τᴛ"),
    ('u', "υսᴜ"),
    ('v', "νѵᴠⅴ"),
    ('w', "ԝѡᴡ"),
    ('x', "хχⅹ"),
    ('y', "уγүყ"),
    ('z', "ᴢ"),
    ('A', "АΑᎪ"),
    ('B', "ВΒᏴ"),
    ('C', "СϹᏟⅭ"),
    ('D', "ᎠⅮ"),
    ('E', "ЕΕᎬ"),
    ('G', "ԌᏀ"),
    ('H', "НΗᎻ"),
    ('I', "ІΙ"),
    ('J', "ЈᎫ"),
    ('K', "КΚᏦ"),
    ('L', "ᏞⅬ"),
    ('M', "МΜᎷⅯ"),
    ('N', "Ν"),
    ('O', "ОΟՕ"),
    ('P', "РΡᏢ"),
    ('S', "ЅՏᏚ"),
    ('T', "ТΤᎢ"),
    ('V', "ѴᏙⅤ"),
    ('W', "ԜᎳ"),
    ('X', "ХΧⅩ"),
    ('Y', "ҮΥ"),
    ('Z', "ΖᏃ"),
];

/// The ASCII letter that a letter of another script looks like.
pub(super) fn latin(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    LIKE.iter().find(|(_, like)| like.contains(c)).map(|(latin, _)| *latin)
}

/// The ASCII character that a styled or wide form stands for: full width, mathematical letters, letters in circles.
pub(super) fn styled(c: char) -> Option<char> {
    let letter = |base: u32, first: u32| {
        let at = (c as u32 - first) % 52;
        char::from_u32(if at < 26 { base + at } else { 0x61 + at - 26 })
    };
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0),
        '\u{1d400}'..='\u{1d6a3}' => letter(0x41, 0x1d400),
        '\u{24d0}'..='\u{24e9}' => char::from_u32(c as u32 - 0x24d0 + 0x61),
        '\u{24b6}'..='\u{24cf}' => char::from_u32(c as u32 - 0x24b6 + 0x41),
        _ => None,
    }
}

/// A character as words are compared.
pub(super) fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    latin(c).or_else(|| styled(c)).map_or(c, |c| c.to_ascii_lowercase())
}
