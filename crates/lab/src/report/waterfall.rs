//! The difference between two runs as a waterfall: from the cycles of the
//! first, cause by cause, to those of the second.

use super::html::{Cell, Table};
use super::number::{change, count, short, ticks};
use super::svg::{Anchor, Fill, Picture};
use crate::why::Difference;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 110.0;
const ROW: f64 = 22.0;
const TOP: f64 = 24.0;

// The colours of the two runs, of what is added and of what is saved.
const RUN: Fill = Fill(6);
const ADDED: Fill = Fill(5);
const SAVED: Fill = Fill(0);

/// Draws it, the largest causes first.
pub(super) fn draw(difference: &Difference) -> String {
    let ranked = difference.ranked();
    let first = difference.cycles_a as f64;
    let mut level = first;
    let mut levels = vec![0.0, first, difference.cycles_b as f64];
    for part in &ranked {
        level += part.cycles as f64;
        levels.push(level);
    }
    let low = levels.iter().copied().fold(0.0, f64::min);
    let high = levels.iter().copied().fold(1.0, f64::max);
    let (low, high, step) = ticks(low, high);
    let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low);
    let rows = ranked.len() + 2;
    let bottom = TOP + ROW * rows as f64;
    let mut picture = Picture::new(WIDTH, bottom + 10.0);
    for tick in 0..=((high - low) / step).round() as usize {
        let value = low + step * tick as f64;
        picture.line([x(value), TOP - 4.0, x(value), bottom], 0.13);
        picture.text(x(value), TOP - 10.0, 12.0, Anchor::Middle, &short(value));
    }
    let mut row = |number: usize, name: &str, [from, to]: [f64; 2], fill: Fill, says: &str, label: &str| {
        let y = TOP + ROW * number as f64;
        picture.text(LEFT - 10.0, y + 15.0, 12.5, Anchor::End, name);
        let (left, right) = (x(from.min(to)), x(from.max(to)));
        picture.bar([left, y + 3.0, (right - left).max(1.0), ROW - 6.0], fill, says);
        picture.text(right + 6.0, y + 15.0, 12.0, Anchor::Start, label);
        // To where the next row goes on.
        if number + 1 < rows {
            picture.line([x(to), y + ROW - 3.0, x(to), y + ROW + 3.0], 0.6);
        }
    };
    let all = |cycles: u64| format!("{} cycles", count(cycles));
    row(0, &difference.a, [0.0, first], RUN, &all(difference.cycles_a), &count(difference.cycles_a));
    let mut level = first;
    for (number, part) in ranked.iter().enumerate() {
        let to = level + part.cycles as f64;
        let fill = if part.cycles > 0 { ADDED } else { SAVED };
        let label = change(part.cycles);
        row(number + 1, &part.cause, [level, to], fill, &format!("{}: {label} cycles", part.meaning), &label);
        level = to;
    }
    let last = difference.cycles_b;
    row(rows - 1, &difference.b, [0.0, last as f64], RUN, &all(last), &count(last));
    let Difference { workload, a, b, .. } = difference;
    picture.finish(&format!("{workload}: where the cycles between {a} and {b} went"))
}

/// The numbers behind it.
pub(super) fn table(difference: &Difference) -> Table {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for part in difference.ranked() {
        rows.push(vec![
            Cell::Text(part.cause.clone()),
            Cell::Number(count(part.cycles_a)),
            Cell::Number(count(part.cycles_b)),
            Cell::Number(change(part.cycles)),
            Cell::Text(part.meaning.clone()),
        ]);
    }
    let same: Vec<_> = difference.parts.iter().filter(|part| part.cycles == 0 && part.cycles_a > 0).collect();
    for part in same {
        let both = || Cell::Number(count(part.cycles_a));
        let none = Cell::Number(change(0));
        rows.push(vec![
            Cell::Text(part.cause.clone()),
            both(),
            both(),
            none,
            Cell::Text(part.meaning.clone()),
        ]);
    }
    rows.push(vec![
        "all".into(),
        Cell::Number(count(difference.cycles_a)),
        Cell::Number(count(difference.cycles_b)),
        Cell::Number(change(difference.parts.iter().map(|part| part.cycles).sum())),
        "".into(),
    ]);
    let headings = ["cause", &difference.a, &difference.b, "difference", "what it is"];
    Table { caption: String::new(), headings: headings.map(str::to_owned).into(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::Part;

    fn part(cause: &str, cycles_a: u64, cycles_b: u64) -> Part {
        let cycles = cycles_b as i64 - cycles_a as i64;
        Part { cause: cause.to_owned(), meaning: cause.to_owned(), cycles, cycles_a, cycles_b }
    }

    fn difference() -> Difference {
        Difference {
            system: "s".to_owned(),
            workload: "w".to_owned(),
            seed: 0,
            a: "A".to_owned(),
            b: "B".to_owned(),
            cycles_a: 100,
            cycles_b: 60,
            answer_ok_a: true,
            answer_ok_b: true,
            parts: vec![part("load", 20, 30), part("release", 70, 20), part("launch", 10, 10)],
        }
    }

    /// The left and right end of each box.
    fn boxes(svg: &str) -> Vec<(f64, f64)> {
        let value = |line: &str, name: &str| {
            let rest = &line[line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3..];
            rest[..rest.find('"').unwrap()].parse::<f64>().unwrap()
        };
        let lines = svg.lines().filter(|line| line.starts_with("<rect"));
        lines.map(|line| (value(line, "x"), value(line, "x") + value(line, "width"))).collect()
    }

    #[test]
    fn each_box_begins_where_the_one_before_it_ends() {
        let svg = draw(&difference());
        let ends = boxes(&svg);
        // From 0 to 100 cycles it is 740 wide: A, release, load, B.
        let expected = [(150.0, 890.0), (520.0, 890.0), (520.0, 594.0), (150.0, 594.0)];
        assert_eq!(ends, expected, "{svg}");
    }

    #[test]
    fn the_table_ends_with_the_whole_difference() {
        let html = table(&difference()).html();
        let last = html.lines().rev().find(|line| line.starts_with("<tr>")).unwrap();
        assert!(last.contains(">100<") && last.contains(">60<") && last.contains(">\u{2212}40<"), "{last}");
        assert!(html.contains(">launch<"), "what is the same is shown too");
    }
}
