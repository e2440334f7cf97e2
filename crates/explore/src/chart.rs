//! A trace as a message sequence chart: in text, and as a drawing.

use core::fmt::Write as _;

use crate::replay::Replay;

/// The width of a lane in characters.
const LANE: usize = 10;
/// The width of the column with the words.
const WORDS: usize = 44;

/// The chart in text.
#[must_use]
pub fn text(replay: &Replay, title: &str) -> String {
    let mut out = format!("{title}\n{}\n\n", replay.threads.join(", "));
    let heads: String = replay.lanes.iter().map(|lane| format!("{lane:^LANE$}")).collect();
    let _ = writeln!(out, "{:5}{:WORDS$}{}", "", "", heads.trim_end());
    for (at, step) in replay.steps.iter().enumerate() {
        let words: String = step.text.chars().take(WORDS - 1).collect();
        let _ =
            writeln!(out, "{:>3}  {words:WORDS$}{}", at + 1, row(replay.lanes.len(), step.lanes).trim_end());
        for note in &step.notes {
            let _ = writeln!(out, "     . {note}");
        }
    }
    if let Some(fault) = replay.end.trouble() {
        let _ = writeln!(out, "     ! {fault}");
    }
    if !replay.reasons.is_empty() {
        let _ = writeln!(out, "\n{}", replay.reasons.join("\n"));
    }
    out
}

/// The lanes of one step, with an arrow or a mark.
fn row(lanes: usize, (from, to): (usize, usize)) -> String {
    let mut row = vec![' '; lanes * LANE];
    let middle = |lane: usize| lane * LANE + LANE / 2 - 1;
    (0..lanes).for_each(|lane| row[middle(lane)] = '|');
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

/// Pixels between lanes and between rows.
const LANE_PX: usize = 120;
const ROW_PX: usize = 18;
const LEFT_PX: usize = 60;

/// The chart as a drawing.
#[must_use]
pub fn svg(replay: &Replay, title: &str) -> String {
    let rows: usize = replay.steps.iter().map(|step| 1 + step.notes.len()).sum::<usize>()
        + usize::from(replay.end.trouble().is_some())
        + replay.reasons.len();
    let (top, x) = (4 * ROW_PX, |lane: usize| LEFT_PX + lane * LANE_PX);
    let notes_x = x(replay.lanes.len());
    let (width, height) = (notes_x + 5 * LANE_PX, top + (rows + 1) * ROW_PX);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let mut write = |x: usize, y: usize, colour: &str, text: &str| {
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\">{}</text>", escape(text));
    };
    write(8, ROW_PX, "black", title);
    write(8, 2 * ROW_PX, "dimgray", &replay.threads.join(", "));
    for (lane, name) in replay.lanes.iter().enumerate() {
        write(x(lane) - 3 * name.len(), 3 * ROW_PX, "black", name);
    }
    let mut y = top;
    let mut lines = String::new();
    for lane in 0..replay.lanes.len() {
        let _ = writeln!(
            lines,
            "<path d=\"M{0} {1}V{2}\" stroke=\"silver\"/>",
            x(lane),
            top - ROW_PX / 2,
            height - ROW_PX
        );
    }
    for (at, step) in replay.steps.iter().enumerate() {
        let (from, to) = (x(step.lanes.0), x(step.lanes.1));
        write(8, y, "dimgray", &(at + 1).to_string());
        let line = y + 3;
        if from == to {
            let _ = writeln!(lines, "<circle cx=\"{from}\" cy=\"{line}\" r=\"3\" fill=\"steelblue\"/>");
        } else {
            let tip = if from < to { to - 6 } else { to + 6 };
            let _ = writeln!(
                lines,
                "<path d=\"M{from} {line}H{to}M{tip} {}L{to} {line}L{tip} {}\" stroke=\"steelblue\" fill=\"none\"/>",
                line - 3,
                line + 3
            );
        }
        write(from.min(to) + 6, y - 1, "black", &step.text);
        for note in &step.notes {
            y += ROW_PX;
            write(notes_x, y - ROW_PX, "dimgray", note);
        }
        y += ROW_PX;
    }
    if let Some(fault) = replay.end.trouble() {
        write(LEFT_PX, y, "firebrick", fault);
        y += ROW_PX;
    }
    for line in &replay.reasons {
        write(8, y, "firebrick", line);
        y += ROW_PX;
    }
    out + &lines + "</svg>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
