//! A chart of a trace: a message sequence chart, in text or as a drawing.
//!
//! Each controller of the chart has a lane, a vertical column. The text of a step has a column of
//! its own, left of the lanes, so that no line crosses it. Lanes without a step are omitted.

use core::fmt::Write as _;

use crate::search::replay::Replay;

/// The width of a lane (a controller's column) in characters.
const LANE: usize = 10;
/// The maximum width of text in characters. Longer text continues in the next row.
const WORDS_MAX: usize = 64;
/// The width in characters of the step number, left of the text.
const NUMBER: usize = 5;

/// The lanes of a chart. A lane is the vertical column of a controller.
struct Lanes<'a> {
    /// The names of the lanes (columns of controllers) that have a step of the trace, from left to
    /// right.
    names: Vec<&'a str>,
    /// For each controller, the index of its lane (its column) in `names`, or `None` if it has no
    /// step.
    places: Vec<Option<usize>>,
}

impl Lanes<'_> {
    fn of(replay: &Replay) -> Lanes<'_> {
        let takes_part = |lane: usize| {
            replay.steps.is_empty() || replay.steps.iter().any(|s| s.lanes.0 == lane || s.lanes.1 == lane)
        };
        let mut lanes = Lanes { names: Vec::new(), places: Vec::new() };
        for (lane, name) in replay.lanes.iter().enumerate() {
            lanes.places.push(takes_part(lane).then_some(lanes.names.len()));
            lanes.names.extend(takes_part(lane).then_some(name.as_str()));
        }
        lanes
    }

    /// The columns of the two ends of a step's arrow.
    fn ends(&self, (from, to): (usize, usize)) -> (usize, usize) {
        let place = |lane: usize| self.places.get(lane).copied().flatten().unwrap_or(0);
        (place(from), place(to))
    }
}

/// Splits text into lines of at most `most` characters, broken at blanks where possible.
fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        let used = |line: &String| line.chars().count();
        let last = lines.len() - 1;
        if !lines[last].is_empty() && used(&lines[last]) + 1 + rest.len() > most {
            lines.push(String::new());
        } else if !lines[last].is_empty() {
            lines[last].push(' ');
        }
        while rest.len() > most {
            let line: String = rest.drain(..most).collect();
            let last = lines.len() - 1;
            lines[last].push_str(&line);
            lines.push(String::new());
        }
        lines.last_mut().expect("there is a line").extend(rest);
    }
    lines
}

/// The width in characters of the longest line of all texts.
fn widest<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> usize {
    texts.flat_map(|text| lines(text, most)).map(|line| line.chars().count()).max().unwrap_or(0)
}

/// The chart of a replayed trace as text.
#[must_use]
pub fn text(replay: &Replay, title: &str) -> String {
    let mut out = format!("{title}\n{}\n\n", replay.threads.join(", "));
    let lanes = Lanes::of(replay);
    let words = widest(replay.steps.iter().map(|step| step.text.as_str()), WORDS_MAX) + 2;
    let heads: String = lanes.names.iter().map(|lane| format!("{lane:^LANE$}")).collect();
    let _ = writeln!(out, "{:NUMBER$}{:words$}{}", "", "", heads.trim_end());
    for (at, step) in replay.steps.iter().enumerate() {
        let mut row = row(lanes.names.len(), Some(lanes.ends(step.lanes)));
        let mut number = format!("{:>3}  ", at + 1);
        for line in lines(&step.text, WORDS_MAX) {
            let _ = writeln!(out, "{number:NUMBER$}{line:words$}{}", row.trim_end());
            row = self::row(lanes.names.len(), None);
            number.clear();
        }
        for note in &step.notes {
            let _ = writeln!(out, "     . {note}");
        }
    }
    if let Some(fault) = replay.end.last_fault() {
        let _ = writeln!(out, "     ! {fault}");
    }
    if !replay.reasons.is_empty() {
        let _ = writeln!(out, "\n{}", replay.reasons.join("\n"));
    }
    out
}

/// One row of the lanes (the controllers' columns), as text. `ends` is given for the first row of a
/// step: the row has an arrow between these columns, or a mark if both are the same column.
fn row(lanes: usize, ends: Option<(usize, usize)>) -> String {
    let mut row = vec![' '; lanes * LANE];
    let middle = |lane: usize| lane * LANE + LANE / 2 - 1;
    (0..lanes).for_each(|lane| row[middle(lane)] = '|');
    let Some((from, to)) = ends else { return row.into_iter().collect() };
    if from == to {
        row[middle(from)] = 'o';
        return row.into_iter().collect();
    }
    let (left, right) = (middle(from.min(to)), middle(from.max(to)));
    row[left + 1..right].fill('-');
    if from < to {
        row[right - 1] = '>';
    } else {
        row[left + 1] = '<';
    }
    row.into_iter().collect()
}

/// The height of a row (`ROW_PX`) and the width of the margins (`MARGIN_PX`), in pixels.
const ROW_PX: usize = 18;
const MARGIN_PX: usize = 12;
/// The offset in pixels of the text from the left edge (`WORDS_PX`), and of notes from the text
/// (`NOTE_PX`).
const WORDS_PX: usize = 44;
const NOTE_PX: usize = 16;
/// The minimum width of a lane (a controller's column) in pixels.
const LANE_PX: usize = 90;
/// The distance in pixels of the baseline of letters below the middle of their row.
const BASE_PX: usize = 4;

/// The width in pixels of this number of letters, rounded up. Letters are 12 pixels high and 7.2
/// pixels wide in the usual monospaced fonts.
fn letters_px(letters: usize) -> usize {
    (letters * 15).div_ceil(2)
}

const STYLE: &str = "<style>\
svg{max-width:100%;height:auto}text{fill:#1b1b1b}.faint{fill:#666}.wrong{fill:#b3261e}.lane{stroke:#bbb}.arrow{stroke:#1f6fb5;fill:none}.mark{fill:#1f6fb5}.paper{fill:#fff}\
@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.faint{fill:#a0a0a0}.wrong{fill:#f2938c}.lane{stroke:#555}.arrow{stroke:#6fb7f2}.mark{fill:#6fb7f2}.paper{fill:#15171a}}\
</style>\n";

/// The chart of a replayed trace as an SVG drawing.
#[must_use]
pub fn svg(replay: &Replay, title: &str) -> String {
    let lanes = Lanes::of(replay);
    let words = widest(replay.steps.iter().map(|step| step.text.as_str()), WORDS_MAX);
    let notes = widest(replay.steps.iter().flat_map(|step| step.notes.iter().map(String::as_str)), WORDS_MAX);
    let words_px = letters_px(words).max(NOTE_PX + letters_px(notes));
    let names = lanes.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let lane_px = LANE_PX.max(letters_px(names) + MARGIN_PX);
    let first_px = WORDS_PX + words_px + MARGIN_PX;
    let x = |lane: usize| first_px + lane * lane_px + lane_px / 2;
    let width = first_px + lanes.names.len() * lane_px + MARGIN_PX;
    // Titles and explanations use the width of the drawing.
    let most = ((width - 2 * MARGIN_PX) * 2 / 15).max(20);
    let mut drawing = Drawing::default();
    drawing.texts(MARGIN_PX, "", &lines(title, most));
    drawing.texts(MARGIN_PX, "faint", &lines(&replay.threads.join(", "), most));
    drawing.y += ROW_PX / 2;
    for (lane, name) in lanes.names.iter().enumerate() {
        let middle = x(lane) - letters_px(name.chars().count()) / 2;
        drawing.text(middle, "", name);
    }
    drawing.y += ROW_PX;
    let top = drawing.y - ROW_PX / 2;
    for (at, step) in replay.steps.iter().enumerate() {
        let (from, to) = lanes.ends(step.lanes);
        drawing.text(MARGIN_PX, "faint", &(at + 1).to_string());
        drawing.arrow(x(from), x(to));
        drawing.texts(WORDS_PX, "", &lines(&step.text, WORDS_MAX));
        for note in &step.notes {
            drawing.texts(WORDS_PX + NOTE_PX, "faint", &lines(note, WORDS_MAX));
        }
    }
    let bottom = drawing.y - ROW_PX / 2;
    drawing.y += ROW_PX / 2;
    if let Some(fault) = replay.end.last_fault() {
        drawing.texts(MARGIN_PX, "wrong", &lines(fault, most));
    }
    for line in &replay.reasons {
        drawing.texts(MARGIN_PX, "wrong", &lines(line, most));
    }
    let height = drawing.y;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"12\">\n{STYLE}\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for lane in 0..lanes.names.len() {
        let _ = writeln!(out, "<path class=\"lane\" d=\"M{} {top}V{bottom}\"/>", x(lane));
    }
    out + &drawing.body + "</svg>\n"
}

/// An SVG drawing that grows downwards.
#[derive(Debug)]
struct Drawing {
    body: String,
    /// The vertical position of the middle of the next row, in pixels.
    y: usize,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing { body: String::new(), y: MARGIN_PX + ROW_PX / 2 }
    }
}

impl Drawing {
    fn text(&mut self, x: usize, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let y = self.y + BASE_PX;
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\"{class}>{}</text>", escape(text));
    }

    /// Draws one row for each line.
    fn texts(&mut self, x: usize, class: &str, lines: &[String]) {
        for line in lines {
            self.text(x, class, line);
            self.y += ROW_PX;
        }
    }

    fn arrow(&mut self, from: usize, to: usize) {
        let y = self.y;
        if from == to {
            let _ = writeln!(self.body, "<circle class=\"mark\" cx=\"{from}\" cy=\"{y}\" r=\"4\"/>");
            return;
        }
        let tip = if from < to { to - 6 } else { to + 6 };
        let (above, below) = (y - 3, y + 3);
        let _ = writeln!(
            self.body,
            "<path class=\"arrow\" d=\"M{from} {y}H{to}M{tip} {above}L{to} {y}L{tip} {below}\"/>"
        );
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::moves::Move;
    use crate::search::replay::ChartStep;

    fn replay() -> Replay {
        let step = |lanes, text: &str, notes: &[&str]| ChartStep {
            mv: Move::Issue { thread: 0 },
            lanes,
            text: text.to_owned(),
            merged: false,
            crosses: None,
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        };
        let long = "P0: Add x 1 AcqRel Device, which is much longer than what a column of forty-four held";
        Replay {
            threads: vec!["P0 at L1[0]".to_owned()],
            lanes: ["L1[0]", "L2[0]", "L2[1]", "Host[0]", "memory"].map(str::to_owned).into(),
            steps: vec![
                step((0, 0), long, &["L1[0] holds x=- (IR), and y=0123456789abcdef (V) beside it, z=7"]),
                step((0, 1), "Register [x]", &[]),
                step((1, 4), "reads [x]", &["L2[0] holds x=0 (R)"]),
            ],
            reasons: vec!["<drf> forbids 0:r0=0;".to_owned()],
            ..Replay::default()
        }
    }

    /// The value of an attribute in a line of the drawing's text.
    fn number(line: &str, name: &str) -> Option<f64> {
        let from = line.find(&format!(" {name}=\""))? + name.len() + 3;
        line[from..].split('"').next()?.parse().ok()
    }

    /// The bounding box of each text, with a margin, as left, top, right and bottom.
    fn boxes(svg: &str) -> Vec<([f64; 4], String)> {
        let texts = svg.lines().filter(|line| line.starts_with("<text"));
        let of = |line: &str| {
            let words = line.split('>').nth(1).unwrap().split('<').next().unwrap();
            let letters = words.replace("&lt;", "<").replace("&gt;", ">").chars().count() as f64;
            let (x, y) = (number(line, "x").unwrap(), number(line, "y").unwrap());
            ([x, y - 11.0, x + 7.3 * letters, y + 3.0], words.to_owned())
        };
        texts.map(of).collect()
    }

    /// The ends of each straight stroke of the lanes (the controllers' columns) and arrows.
    fn strokes(svg: &str) -> Vec<[f64; 4]> {
        let mut strokes = Vec::new();
        for line in svg.lines().filter(|line| line.starts_with("<path")) {
            let path = line.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
            let start: Vec<f64> =
                path[1..].split(['V', 'H']).next().unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
            let end = path.split(['V', 'H', 'M']).nth(2).unwrap().parse().unwrap();
            strokes.push(match path.contains('V') {
                true => [start[0], start[1], start[0], end],
                false => [start[0].min(end), start[1], start[0].max(end), start[1]],
            });
        }
        strokes
    }

    #[test]
    fn no_line_crosses_text_and_no_texts_overlap() {
        let svg = svg(
            &replay(),
            "a test: it ends with 0:r0=0; and a title that is quite a bit longer than the drawing is wide, by far, so that it has to be broken",
        );
        let (boxes, strokes) = (boxes(&svg), strokes(&svg));
        assert!(boxes.len() > 10 && strokes.len() == 5, "{svg}");
        let width = number(svg.lines().next().unwrap(), "width").unwrap();
        let apart = |a: [f64; 4], b: [f64; 4]| a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
        for (at, (here, words)) in boxes.iter().enumerate() {
            assert!(here[2] <= width, "`{words}` leaves the drawing");
            for stroke in &strokes {
                assert!(apart(*here, *stroke), "`{words}` at {here:?} is crossed by {stroke:?}");
            }
            for (other, others) in &boxes[at + 1..] {
                assert!(apart(*here, *other), "`{words}` overlaps `{others}`");
            }
        }
    }

    #[test]
    fn lanes_without_steps_are_omitted_and_no_text_is_lost() {
        let replay = replay();
        let (text, svg) = (text(&replay, "title"), svg(&replay, "title"));
        let heads = text.lines().nth(3).unwrap();
        assert_eq!(heads.split_whitespace().collect::<Vec<_>>(), ["L1[0]", "L2[0]", "memory"]);
        assert!(!svg.contains("Host[0]") && !svg.contains("L2[1]") && svg.contains("memory"));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for word in words(&replay.steps[0].text) {
            assert!(words(&text).contains(&word), "{word} in {text}");
        }
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= NUMBER + WORDS_MAX + 2 + 3 * LANE, "{text}");
    }

    #[test]
    fn long_text_is_broken_at_blanks_where_possible() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(lines("", 4), [""]);
    }
}
