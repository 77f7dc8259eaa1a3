//! A badge of a fleet or of one server: one self-contained picture. The words say what the colour says.

use report::render::escape::xml;
use unicode_width::UnicodeWidthStr as _;

/// The width of a letter in the font, in hundredths of a pixel, and the blank at each end of a half.
const LETTER: usize = 690;
const MARGIN: usize = 7;
const HEIGHT: usize = 22;

/// How good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As wanted.
    Good,
    /// Not as wanted.
    Bad,
    /// Not known.
    Unknown,
}

/// The badge as SVG.
pub fn svg(left: &str, right: &str, tone: Tone) -> String {
    // White on each has a contrast of 4.5 and more.
    let ground = match tone {
        Tone::Good => "#1a7f37",
        Tone::Bad => "#b62324",
        Tone::Unknown => "#57606a",
    };
    let width = |text: &str| text.width() * LETTER / 100 + 2 * MARGIN;
    let (wide, rest) = (width(left), width(right));
    let (total, base) = (wide + rest, HEIGHT / 2 + 4);
    let label = xml(&format!("{left}: {right}"));
    let text = |at: usize, room: usize, text: &str| {
        let length = room - 2 * MARGIN;
        format!(
            "<text x=\"{}\" y=\"{base}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            at + MARGIN,
            xml(text)
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total}\" height=\"{HEIGHT}\" viewBox=\"0 0 {total} {HEIGHT}\" \
         role=\"img\" aria-label=\"{label}\">\n<title>{label}</title>\n\
         <clipPath id=\"r\"><rect width=\"{total}\" height=\"{HEIGHT}\" rx=\"4\"/></clipPath>\n\
         <g clip-path=\"url(#r)\"><rect width=\"{wide}\" height=\"{HEIGHT}\" fill=\"#24292f\"/>\
         <rect x=\"{wide}\" width=\"{rest}\" height=\"{HEIGHT}\" fill=\"{ground}\"/></g>\n\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,Geneva,sans-serif\" font-size=\"11\">\n{}\n{}\n</g>\n</svg>\n",
        text(0, wide, left),
        text(wide, rest, right),
    )
}
