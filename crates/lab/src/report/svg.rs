//! Draws pictures as SVG text, with the few shapes that charts need.
//!
//! Axes and letters have the colours of the page. The series of a chart have the colours of Okabe
//! and Ito, which colour-blind readers can distinguish. After eight series the colours repeat with
//! stripes.

use core::fmt::Write;

use super::escape::escape;

const COLOURS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#d4c61a"];

/// The appearance of a series of a chart: its colour, with or without stripes. The number is the
/// position of the series in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fill(pub(super) usize);

impl Fill {
    fn colour(self) -> &'static str {
        COLOURS[self.0 % COLOURS.len()]
    }

    fn is_striped(self) -> bool {
        self.0 >= COLOURS.len()
    }

    /// The SVG attribute for dashes in the line of a series. Dashes distinguish series of the same
    /// colour. Empty for a line without dashes.
    fn dashes(self) -> &'static str {
        match self.0 / COLOURS.len() {
            0 => "",
            1 => " stroke-dasharray=\"7 3\"",
            _ => " stroke-dasharray=\"2 3\"",
        }
    }

    /// The beginning of an SVG element that draws the mark of a point. The caller closes its tag.
    fn mark(self, x: f64, y: f64, size: f64) -> String {
        let colour = self.colour();
        let [left, right, top, bottom] = [x - size, x + size, y - size, y + size].map(at);
        let (x, y) = (at(x), at(y));
        match self.0 % 4 {
            0 => format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" fill=\"{colour}\"", at(size)),
            1 => format!("<path d=\"M{left} {top}H{right}V{bottom}H{left}Z\" fill=\"{colour}\""),
            2 => format!("<path d=\"M{x} {top}L{right} {bottom}H{left}Z\" fill=\"{colour}\""),
            _ => format!("<path d=\"M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z\" fill=\"{colour}\""),
        }
    }
}

/// The part of a text that is at the given position: its start, its middle or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An estimate of the width of a text. The estimate is a little larger than the width in usual
/// fonts.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'l' | 'j' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '(' | ')' | '['
        | ']' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        letter if letter.is_ascii_uppercase() => 0.72,
        letter if letter.is_ascii_digit() => 0.64,
        letter if letter.is_ascii() => 0.6,
        // A letter of a wide script, such as Chinese.
        letter if letter as u32 >= 0x2e80 => 1.05,
        _ => 0.84,
    };
    size * text.chars().map(letter).sum::<f64>()
}

/// Breaks a text into lines of at most `width`. Lines end at blanks. A word that is wider than a
/// line is broken after a comma or a hyphen, or is cut.
pub(super) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let words = text.split_inclusive(' ').flat_map(|word| {
        let is_wide = width_of(word.trim_end(), size) > width;
        word.split_inclusive(move |letter| is_wide && matches!(letter, '-' | ','))
    });
    for word in words {
        let fits = |line: &String| width_of((line.clone() + word).trim_end(), size) <= width;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => line.push_str(word),
            None => lines.push(cut(word, size, width)),
        }
    }
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    lines.retain(|line| !line.is_empty());
    lines
}

/// Returns `text`. If it is wider than `width`, the text is shortened and ends with an ellipsis.
pub(super) fn cut(text: &str, size: f64, width: f64) -> String {
    if width_of(text.trim_end(), size) <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    for letter in text.chars() {
        if width_of(&shown, size) + width_of("m\u{2026}", size) > width {
            break;
        }
        shown.push(letter);
    }
    shown + "\u{2026}"
}

/// An SVG picture that is being drawn: its size, and the elements drawn so far.
#[derive(Debug)]
pub(super) struct Picture {
    width: f64,
    height: f64,
    body: String,
}

/// The text of a coordinate, rounded to a tenth of a pixel.
fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

impl Picture {
    pub(super) fn new(width: f64, height: f64) -> Picture {
        Picture { width, height, body: String::new() }
    }

    fn add(&mut self, text: core::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        self.body.write_fmt(text).ok();
        self.body.push('\n');
    }

    /// Draws a filled box with the tooltip `says`.
    pub(super) fn bar(&mut self, [x, y, width, height]: [f64; 4], fill: Fill, says: &str) {
        let (x, y, width, height) = (at(x), at(y), at(width.max(0.0)), at(height.max(0.0)));
        let says = escape(says);
        let colour = fill.colour();
        self.add(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"><title>{says}</title></rect>"
        ));
        if fill.is_striped() {
            self.add(format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"url(#stripes)\" pointer-events=\"none\"/>"
            ));
        }
    }

    /// Draws a line with the opacity `strength`, from 0 (invisible) to 1.
    pub(super) fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], strength: f64) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(at);
        self.add(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"currentColor\" stroke-opacity=\"{strength}\"/>"
        ));
    }

    /// Draws the line of a series through these points. The lines of the series after the first
    /// eight are dashed.
    pub(super) fn path(&mut self, points: &[(f64, f64)], fill: Fill) {
        if points.len() < 2 {
            return;
        }
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y))).collect();
        let (points, colour, dashes) = (points.join(" "), fill.colour(), fill.dashes());
        self.add(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>"
        ));
    }

    /// Draws the mark of a series at a point, with the tooltip `says`. Series that follow each
    /// other in the legend have marks of different shapes.
    pub(super) fn mark(&mut self, x: f64, y: f64, size: f64, fill: Fill, says: &str) {
        let (mark, says) = (fill.mark(x, y, size), escape(says));
        let (element, _) = mark.split_once(' ').unwrap_or((&mark, ""));
        let element = element.trim_start_matches('<').to_owned();
        self.add(format_args!("{mark}><title>{says}</title></{element}>"));
    }

    /// Draws a centred text with the tooltip `says`.
    pub(super) fn text_with_title(&mut self, x: f64, y: f64, size: f64, text: &str, says: &str) {
        let (x, y, size, text, says) = (at(x), at(y), at(size), escape(text), escape(says));
        self.add(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"middle\" fill=\"currentColor\"><title>{says}</title>{text}</text>"
        ));
    }

    /// Draws a dashed line.
    pub(super) fn dashes(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(at);
        self.add(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"currentColor\" stroke-opacity=\"0.6\" stroke-dasharray=\"4 3\"/>"
        ));
    }

    /// Increases the height of the picture to `height` if the picture is lower.
    pub(super) fn grow(&mut self, height: f64) {
        self.height = self.height.max(height);
    }

    /// Draws a jagged vertical line through a horizontal bar. The line shows that the bar is cut,
    /// because the axis does not begin at zero.
    pub(super) fn zigzag(&mut self, x: f64, [top, bottom]: [f64; 2]) {
        let step = (bottom - top) / 4.0;
        let points: Vec<String> = (0..5)
            .map(|n| {
                format!("{},{}", at(x + if n % 2 == 0 { -3.0 } else { 3.0 }), at(top + step * f64::from(n)))
            })
            .collect();
        let points = points.join(" ");
        self.add(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"var(--paper, #fff)\" stroke-width=\"3\"/>"
        ));
    }

    /// Draws a hollow diamond with the tooltip `says`.
    pub(super) fn diamond(&mut self, x: f64, y: f64, size: f64, says: &str) {
        let [left, right, top, bottom] = [x - size, x + size, y - size, y + size].map(at);
        let (x, y, says) = (at(x), at(y), escape(says));
        self.add(format_args!(
            "<path d=\"M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z\" fill=\"#fff\" stroke=\"#000\" stroke-width=\"1.2\"><title>{says}</title></path>"
        ));
    }

    /// Adds a text at a position.
    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.letters(&format!("x=\"{}\" y=\"{}\"", at(x), at(y)), size, anchor, text);
    }

    /// Draws a text that lies on a grid. A margin in the colour of the page keeps the grid lines
    /// away from the letters.
    pub(super) fn text_on_grid(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        let around = "paint-order=\"stroke\" stroke=\"var(--paper, #fff)\" stroke-width=\"4\"";
        self.letters(&format!("x=\"{}\" y=\"{}\" {around}", at(x), at(y)), size, anchor, text);
    }

    /// Draws a vertical text, from bottom to top.
    pub(super) fn text_upward(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.letters(
            &format!("transform=\"translate({} {}) rotate(-90)\"", at(x), at(y)),
            size,
            anchor,
            text,
        );
    }

    fn letters(&mut self, place: &str, size: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (size, text) = (at(size), escape(text));
        self.add(format_args!(
            "<text {place} font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"currentColor\">{text}</text>"
        ));
    }

    /// Returns the finished picture as SVG text. The title is for screen readers.
    pub(super) fn finish(self, title: &str) -> String {
        let (width, height, title) = (at(self.width), at(self.height), escape(title));
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"system-ui, sans-serif\">\n<title>{title}</title>\n{}</svg>\n",
            self.body
        )
    }
}

/// An SVG element that defines the stripes of striped boxes. A page contains this element once.
pub(super) const STRIPES: &str = "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs><pattern id=\"stripes\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"5\" fill=\"#fff\" fill-opacity=\"0.7\"/></pattern></defs></svg>\n";

/// The SVG text of a small box in the colour of a series, for the legend.
pub(super) fn swatch(fill: Fill) -> String {
    let stripes =
        if fill.is_striped() { "<rect width=\"12\" height=\"12\" fill=\"url(#stripes)\"/>" } else { "" };
    format!(
        "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" fill=\"{}\"/>{stripes}</svg>",
        fill.colour()
    )
}

/// The SVG text of a short line with a mark, in the colour of a series, for the legend.
pub(super) fn line_swatch(fill: Fill) -> String {
    let (colour, dashes, mark) = (fill.colour(), fill.dashes(), fill.mark(6.0, 6.0, 3.5));
    format!(
        "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path d=\"M0 6H12\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>{mark}/></svg>"
    )
}

/// The SVG text of the cross that means a missing value, for the legend.
pub(super) const CROSS: &str = "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path d=\"M2 2L10 10M10 2L2 10\" stroke=\"currentColor\" fill=\"none\"/></svg>";

/// The SVG text of an error bar, for the legend.
pub(super) const ERROR_BAR: &str = "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path d=\"M6 1V11M3 1H9M3 11H9\" stroke=\"currentColor\" fill=\"none\"/></svg>";

/// The SVG text of the diamond that means a published value, for the legend.
pub(super) const PUBLISHED: &str = "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path d=\"M6 1L11 6L6 11L1 6Z\" fill=\"#fff\" stroke=\"#000\" stroke-width=\"1.2\"/></svg>";

/// The SVG text of a dashed line, for the legend.
pub(super) const DASHES: &str = "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path d=\"M0 6H12\" stroke=\"currentColor\" stroke-dasharray=\"4 3\"/></svg>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_is_this_text() {
        let mut picture = Picture::new(40.0, 20.0);
        picture.bar([1.0, 2.25, 3.0, -4.0], Fill(0), "a <b> & \"c\"");
        picture.text(5.0, 6.0, 9.0, Anchor::End, "</svg><script>");
        picture.line([0.0, 0.0, 40.0, 0.0], 0.5);
        let expected = concat!(
            "<svg viewBox=\"0 0 40 20\" role=\"img\" font-family=\"system-ui, sans-serif\">\n",
            "<title>t</title>\n",
            "<rect x=\"1\" y=\"2.2\" width=\"3\" height=\"0\" fill=\"#0072b2\"><title>a &lt;b&gt; &amp; &quot;c&quot;</title></rect>\n",
            "<text x=\"5\" y=\"6\" font-size=\"9\" text-anchor=\"end\" fill=\"currentColor\">&lt;/svg&gt;&lt;script&gt;</text>\n",
            "<line x1=\"0\" y1=\"0\" x2=\"40\" y2=\"0\" stroke=\"currentColor\" stroke-opacity=\"0.5\"/>\n",
            "</svg>\n",
        );
        assert_eq!(picture.finish("t"), expected);
    }

    #[test]
    fn text_is_broken_at_blanks_or_cut() {
        assert_eq!(wrap("geometric mean", 12.0, 70.0), ["geometric", "mean"]);
        assert_eq!(wrap("geometric mean", 12.0, 200.0), ["geometric mean"]);
        assert_eq!(wrap("invalidate-16", 12.0, 75.0), ["invalidate-", "16"]);
        assert_eq!(wrap("mean, hrf-8cu", 12.0, 75.0), ["mean,", "hrf-8cu"]);
        let line = wrap("abcdefghijklmnop", 12.0, 60.0).remove(0);
        assert!(line.ends_with('\u{2026}') && width_of(&line, 12.0) <= 60.0, "{line}");
        assert_eq!(wrap("", 12.0, 60.0), [""; 0]);
    }

    #[test]
    fn the_ninth_series_has_stripes() {
        let mut picture = Picture::new(1.0, 1.0);
        picture.bar([0.0, 0.0, 1.0, 1.0], Fill(8), "");
        let text = picture.finish("");
        assert!(text.contains("url(#stripes)") && STRIPES.contains("id=\"stripes\""));
        assert!(swatch(Fill(8)).contains("stripes") && !swatch(Fill(7)).contains("stripes"));
    }
}
