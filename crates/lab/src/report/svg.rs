//! A picture as SVG text: the few shapes that charts need.
//!
//! Colours of axes and letters are those of the page around it. Series have
//! colours that people who see fewer colours can tell apart (those of Okabe
//! and Ito); after eight of them the same come again with stripes.

use core::fmt::Write;

use super::html::escape;

const COLOURS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#d4c61a"];

/// How a series is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fill(pub(super) usize);

impl Fill {
    fn colour(self) -> &'static str {
        COLOURS[self.0 % COLOURS.len()]
    }

    fn is_striped(self) -> bool {
        self.0 >= COLOURS.len()
    }
}

/// From where letters run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture in the making.
#[derive(Debug)]
pub(super) struct Picture {
    width: f64,
    height: f64,
    body: String,
}

/// A coordinate, to a tenth of a unit.
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

    /// A filled box that says something when it is pointed at.
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

    /// A line; faint ones are for grids.
    pub(super) fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], strength: f64) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(at);
        self.add(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"currentColor\" stroke-opacity=\"{strength}\"/>"
        ));
    }

    /// A dashed line.
    pub(super) fn dashes(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(at);
        self.add(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"currentColor\" stroke-opacity=\"0.6\" stroke-dasharray=\"4 3\"/>"
        ));
    }

    /// A hollow diamond that says something when it is pointed at.
    pub(super) fn diamond(&mut self, x: f64, y: f64, size: f64, says: &str) {
        let [left, right, top, bottom] = [x - size, x + size, y - size, y + size].map(at);
        let (x, y, says) = (at(x), at(y), escape(says));
        self.add(format_args!(
            "<path d=\"M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z\" fill=\"#fff\" stroke=\"#000\" stroke-width=\"1.2\"><title>{says}</title></path>"
        ));
    }

    /// Letters.
    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.letters(&format!("x=\"{}\" y=\"{}\"", at(x), at(y)), size, anchor, text);
    }

    /// Letters that run upward.
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

    /// The picture as SVG, with a title for those who cannot see it.
    pub(super) fn finish(self, title: &str) -> String {
        let (width, height, title) = (at(self.width), at(self.height), escape(title));
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"system-ui, sans-serif\">\n<title>{title}</title>\n{}</svg>\n",
            self.body
        )
    }
}

/// What striped boxes refer to; once a page.
pub(super) const STRIPES: &str = "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs><pattern id=\"stripes\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"5\" fill=\"#fff\" fill-opacity=\"0.7\"/></pattern></defs></svg>\n";

/// A little box in the colour of a series.
pub(super) fn swatch(fill: Fill) -> String {
    let stripes =
        if fill.is_striped() { "<rect width=\"12\" height=\"12\" fill=\"url(#stripes)\"/>" } else { "" };
    format!(
        "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" fill=\"{}\"/>{stripes}</svg>",
        fill.colour()
    )
}

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
    fn the_ninth_series_has_stripes() {
        let mut picture = Picture::new(1.0, 1.0);
        picture.bar([0.0, 0.0, 1.0, 1.0], Fill(8), "");
        let text = picture.finish("");
        assert!(text.contains("url(#stripes)") && STRIPES.contains("id=\"stripes\""));
        assert!(swatch(Fill(8)).contains("stripes") && !swatch(Fill(7)).contains("stripes"));
    }
}
