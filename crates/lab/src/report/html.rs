//! Writes an HTML page: its style, its elements and its tables. Text is escaped.

use core::fmt::Write;

use super::escape::escape;
use super::svg::STRIPES;

/// An HTML page that is being written.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
}

impl Page {
    pub(super) fn new(title: &str) -> Page {
        let title = escape(title);
        Page {
            text: format!(
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{STRIPES}<main>\n"
            ),
        }
    }

    /// Appends `html`, which is already HTML, without escaping.
    pub(super) fn raw(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// Appends an HTML element that contains `text`. The text is escaped.
    pub(super) fn element(&mut self, tag: &str, text: &str) {
        // Writing to a string cannot fail.
        writeln!(self.text, "<{tag}>{}</{tag}>", escape(text)).ok();
    }

    /// Appends a heading with the identifier `id`, so that links can refer to the heading.
    pub(super) fn heading(&mut self, id: &str, text: &str) {
        writeln!(self.text, "<h2 id=\"{}\">{}</h2>", escape(id), escape(text)).ok();
    }

    pub(super) fn table(&mut self, table: &Table) {
        self.raw(&table.html());
    }

    pub(super) fn finish(mut self) -> String {
        self.raw("</main>\n</body>\n</html>\n");
        self.text
    }
}

/// The content of a cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    Number(String),
    /// Text that is already HTML.
    Html(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

/// A table with a caption and headings of its columns. The first cell of each row names the row.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether a narrow screen shows each row of the table as a block. In a block the cells are
    /// below each other, and each cell has the heading of its column.
    pub(super) is_cards: bool,
}

impl Table {
    pub(super) fn html(&self) -> String {
        let class = if self.is_cards { " class=\"cards\"" } else { "" };
        let mut out = format!("<div class=\"wide\"><table{class}>\n");
        if !self.caption.is_empty() {
            writeln!(out, "<caption>{}</caption>", escape(&self.caption)).ok();
        }
        out.push_str("<thead><tr>");
        for heading in &self.headings {
            write!(out, "<th scope=\"col\">{}</th>", escape(heading)).ok();
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                let label = match self.headings.get(at).filter(|_| self.is_cards) {
                    Some(heading) => format!(" data-label=\"{}\"", escape(heading)),
                    None => String::new(),
                };
                match cell {
                    Cell::Text(text) if at == 0 => {
                        write!(out, "<th scope=\"row\">{}</th>", escape(text)).ok();
                    }
                    Cell::Text(text) => {
                        write!(out, "<td{label}>{}</td>", escape(text)).ok();
                    }
                    Cell::Number(text) => {
                        write!(out, "<td{label} class=\"number\">{}</td>", escape(text)).ok();
                    }
                    Cell::Html(html) => {
                        write!(out, "<td{label}>{html}</td>").ok();
                    }
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table></div>\n");
        out
    }
}

/// A part of a page, as HTML, that is hidden until the reader opens it. Only `summary` is visible
/// before. A printed page always shows the part.
pub(super) fn details(summary: &str, html: &str) -> String {
    format!("<details><summary>{}</summary>\n{html}</details>\n", escape(summary))
}

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --faint: #666; --rule: #d8d8d8; --shade: #f5f5f3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #15171a; --faint: #a0a0a0; --rule: #3a3d42; --shade: #1f2226; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--rule); }
p { max-width: 46rem; margin: .4rem 0; overflow-wrap: anywhere; }
.lead, .note, figcaption, caption { color: var(--faint); }
.note, figcaption, caption { font-size: .875rem; }
caption { text-align: left; padding: .25rem 0; }
nav ul, .legend, .counts { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem 1.1rem; padding: 0; margin: .6rem 0; }
.legend { font-size: .875rem; }
.legend svg { width: .8rem; height: .8rem; margin-right: .35rem; vertical-align: -.06rem; }
figure { margin: .5rem 0 1rem; break-inside: avoid; }
figure svg { width: 100%; height: auto; display: block; }
.slim { display: none; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; }
.status { white-space: nowrap; font-weight: 600; }
details { margin: .4rem 0 1rem; }
summary { cursor: pointer; color: var(--faint); font-size: .875rem; }
.warning { background: var(--shade); border-left: .25rem solid #e69f00; padding: .5rem .9rem; max-width: 46rem; }
a { color: inherit; }
@media screen and (max-width: 52rem) {
  main { padding: 1.25rem .9rem 3rem; }
  .broad { display: none; }
  .slim { display: block; max-width: 30rem; }
  .cards, .cards caption, .cards tbody, .cards tr, .cards th, .cards td { display: block; }
  .cards thead { display: none; }
  .cards tr { padding: .6rem 0; border-bottom: 1px solid var(--rule); }
  .cards th, .cards td { border: 0; padding: .1rem 0; overflow-wrap: anywhere; }
  .cards td.number { text-align: left; }
  .cards td[data-label]::before { content: attr(data-label) \": \"; color: var(--faint); }
}
@media print {
  :root { --ink: #000; --paper: #fff; --faint: #444; --rule: #bbb; --shade: #fff; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_in_markup() {
        let hostile = "</script><script>alert('1')</script> & \"\u{0}\u{1b}";
        let escaped = escape(hostile);
        assert!(!escaped.contains(['<', '>', '"', '\'']));
        assert!(!escaped.chars().any(char::is_control));
        assert!(escaped.starts_with("&lt;/script&gt;"));
        let table = Table {
            caption: hostile.to_owned(),
            headings: vec![hostile.to_owned()],
            rows: vec![vec![hostile.into(), Cell::Number(hostile.to_owned())]],
            ..Table::default()
        };
        assert!(!table.html().contains("<script"));
    }
}
