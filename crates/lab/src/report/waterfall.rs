//! Draws the difference in cycles between two runs as a waterfall chart. The chart begins with the
//! cycles of the first run, adds or subtracts the cycles of one cause in each row, and ends with
//! the cycles of the second run.
//!
//! If both runs are long and the difference is small, the axis does not begin at zero. Causes whose
//! boxes are still too narrow to see are shown a second time below, on a larger scale.

use super::escape::escape;
use super::html::{Cell, Table, details};
use super::number::{change, count, tick, ticks};
use super::svg::{Anchor, Fill, Picture, cut, width_of};
use super::view::{View, both};
use crate::why::{Difference, Part};

const LETTERS: f64 = 12.5;
const TICK: f64 = 12.0;
const ROW: f64 = 22.0;
/// The height, in pixels, of a row of the chart whose text is above its box.
const TALL_ROW: f64 = 38.0;
const BOX: f64 = 16.0;
const UNIT: &str = "cycles";

// The colours of the two runs, of added cycles and of saved cycles.
const RUN: Fill = Fill(6);
const ADDED: Fill = Fill(5);
const SAVED: Fill = Fill(0);

/// The axis begins above zero if all boxes end at nearly the same value: the difference between the
/// largest and the smallest end is smaller than this fraction of the largest end.
const ZOOM_BELOW: f64 = 0.4;
/// A box of the waterfall chart that is narrower than this number of pixels is shown a second time,
/// enlarged.
const THIN: f64 = 8.0;
/// Narrow boxes of the waterfall chart are shown a second time, enlarged, only if the larger scale
/// makes them wider by more than this factor.
const ENLARGE_MIN: f64 = 3.0;

/// One row of the waterfall chart: its name, its box, and its number of cycles.
struct Bar {
    name: String,
    ends: [f64; 2],
    fill: Fill,
    says: String,
    label: String,
    /// Whether the box shows all cycles of a run, not the cycles of a cause. Such a box begins at
    /// zero, even if the axis begins above zero.
    is_whole: bool,
}

impl Bar {
    fn of_run(name: &str, cycles: u64) -> Bar {
        Bar {
            name: name.to_owned(),
            ends: [0.0, cycles as f64],
            fill: RUN,
            says: format!("{name}: {} {UNIT}", count(cycles)),
            label: count(cycles),
            is_whole: true,
        }
    }

    fn of_part(part: &Part, from: f64) -> Bar {
        let label = change(part.cycles);
        Bar {
            name: part.cause.clone(),
            ends: [from, from + part.cycles as f64],
            fill: if part.cycles > 0 { ADDED } else { SAVED },
            says: format!("{}: {label} {UNIT}", part.meaning),
            label,
            is_whole: false,
        }
    }
}

/// A part of a waterfall chart: rows below each other with a common horizontal axis.
struct Panel {
    bars: Vec<Bar>,
    low: f64,
    high: f64,
    step: f64,
    /// The horizontal position at which the names of the rows end. `left` and `right` are the
    /// horizontal positions of the two ends of the plot.
    names: f64,
    left: f64,
    right: f64,
    view: View,
}

impl Panel {
    fn new(bars: Vec<Bar>, view: View) -> Panel {
        let changes = bars.iter().filter(|bar| !bar.is_whole).flat_map(|bar| bar.ends);
        let ends = bars.iter().map(|bar| bar.ends[1]).chain(changes);
        let (least, most) = ends.fold((f64::MAX, f64::MIN), |(low, high), end| (low.min(end), high.max(end)));
        let is_zoomed = least > 0.0 && most - least < ZOOM_BELOW * most;
        let (low, high, step) = match is_zoomed {
            // The axis begins a little before the smallest end, so that the beginnings of the two
            // runs' boxes are visible.
            true => ticks(least - 0.1 * (most - least).max(1.0), most),
            false => ticks(least.min(0.0), most.max(1.0)),
        };
        let widest =
            |text: fn(&Bar) -> &str| bars.iter().map(|bar| width_of(text(bar), LETTERS)).fold(0.0, f64::max);
        let numbers = widest(|bar| &bar.label) + 10.0;
        let names = match view {
            View::Broad => widest(|bar| &bar.name).min(260.0),
            View::Slim => 0.0,
        };
        // A number stands to the right of its box, or at the end of the text above the box.
        let first = width_of(&tick(low, step), TICK) / 2.0;
        let last = width_of(&tick(high, step), TICK) / 2.0;
        let (left, right) = match view {
            View::Broad => (names + 10.0, view.width() - numbers.max(last)),
            View::Slim => (first + 2.0, view.width() - last - 2.0),
        };
        Panel { bars, low, high, step, names, left, right, view }
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.left + (self.right - self.left) * share
    }

    fn is_zoomed(&self) -> bool {
        self.low > 0.0
    }

    fn is_thin(&self, cycles: f64) -> bool {
        cycles.abs() * (self.right - self.left) / (self.high - self.low) < THIN
    }

    /// Draws this part of the chart below the vertical position `top`, and returns the vertical
    /// position at which it ends.
    fn draw(&self, picture: &mut Picture, top: f64) -> f64 {
        let height = if self.view == View::Broad { ROW } else { TALL_ROW };
        let first = top + LETTERS + 8.0;
        let bottom = first + height * self.bars.len() as f64;
        self.draw_axis(picture, [top + LETTERS, bottom]);
        for (number, bar) in self.bars.iter().enumerate() {
            let y = first + height * number as f64;
            let [from, to] = bar.ends;
            let (left, right) = (self.x(from.min(to)), self.x(from.max(to)));
            let box_top = y + height - BOX - 3.0;
            picture.bar([left, box_top, (right - left).max(1.0), BOX], bar.fill, &bar.says);
            if bar.is_whole && self.is_zoomed() {
                picture.zigzag(left + 8.0, [box_top - 1.0, box_top + BOX + 1.0]);
            }
            self.words(picture, bar, y, box_top, right);
            // A short line connects the end of this box to the beginning of the next box.
            if number + 1 < self.bars.len() {
                let x = self.x(to);
                picture.line([x, box_top + BOX, x, box_top + BOX + 3.0], 0.6);
            }
        }
        bottom
    }

    fn words(&self, picture: &mut Picture, bar: &Bar, y: f64, box_top: f64, right: f64) {
        match self.view {
            View::Broad => {
                let name = cut(&bar.name, LETTERS, self.names);
                picture.text(self.names, box_top + 12.5, LETTERS, Anchor::End, &name);
                picture.text_on_grid(right + 6.0, box_top + 12.5, LETTERS, Anchor::Start, &bar.label);
            }
            View::Slim => {
                let label = width_of(&bar.label, LETTERS) + 8.0;
                let name = cut(&bar.name, LETTERS, self.view.width() - label);
                picture.text_on_grid(0.0, y + LETTERS, LETTERS, Anchor::Start, &name);
                picture.text_on_grid(self.view.width(), y + LETTERS, LETTERS, Anchor::End, &bar.label);
            }
        }
    }

    fn draw_axis(&self, picture: &mut Picture, [top, bottom]: [f64; 2]) {
        let all = ((self.high - self.low) / self.step).round() as usize;
        // Every tick has a grid line. Ticks have numbers only where the numbers do not touch.
        let widest = (0..=all).map(|n| width_of(&self.tick(n), TICK)).fold(0.0, f64::max) + 8.0;
        let between = (self.right - self.left) / all.max(1) as f64;
        let each = (widest / between).ceil().max(1.0) as usize;
        for number in 0..=all {
            let x = self.x(self.low + self.step * number as f64);
            picture.line([x, top + 3.0, x, bottom], 0.13);
            if number % each == 0 {
                picture.text(x, top, TICK, Anchor::Middle, &self.tick(number));
            }
        }
    }

    fn tick(&self, number: usize) -> String {
        tick(self.low + self.step * number as f64, self.step)
    }
}

/// The part of the chart with all rows: the first run, the causes (the largest difference first),
/// and the second run.
fn whole(difference: &Difference, view: View) -> Panel {
    let mut bars = vec![Bar::of_run(&difference.a, difference.cycles_a)];
    let mut level = difference.cycles_a as f64;
    for part in difference.ranked() {
        bars.push(Bar::of_part(part, level));
        level += part.cycles as f64;
    }
    bars.push(Bar::of_run(&difference.b, difference.cycles_b));
    Panel::new(bars, view)
}

/// A part of the chart with the causes whose boxes are too narrow in the part `whole`. `None` if
/// there are no such causes, or if a larger scale would not show them much better.
fn enlarged(difference: &Difference, whole: &Panel) -> Option<Panel> {
    let thin: Vec<&Part> =
        difference.ranked().into_iter().filter(|part| whole.is_thin(part.cycles as f64)).collect();
    let mut level = 0.0;
    let bars = thin.iter().map(|part| {
        let bar = Bar::of_part(part, level);
        level = bar.ends[1];
        bar
    });
    let panel = Panel::new(bars.collect(), whole.view);
    let scale = |panel: &Panel| (panel.right - panel.left) / (panel.high - panel.low);
    (!thin.is_empty() && scale(&panel) > ENLARGE_MIN * scale(whole)).then_some(panel)
}

/// Draws the waterfall chart of the difference in cycles between two runs, as an SVG picture.
pub(super) fn draw(difference: &Difference, view: View) -> String {
    let panel = whole(difference, view);
    let mut picture = Picture::new(view.width(), 0.0);
    picture.text(0.0, TICK, TICK, Anchor::Start, UNIT);
    let mut bottom = panel.draw(&mut picture, 20.0);
    if let Some(small) = enlarged(difference, &panel) {
        let y = bottom + 28.0;
        let text = "the smallest causes, enlarged: cycles added or saved";
        picture.text(0.0, y, TICK, Anchor::Start, text);
        bottom = small.draw(&mut picture, y + 8.0);
    }
    picture.grow(bottom + 8.0);
    let Difference { workload, a, b, .. } = difference;
    picture.finish(&format!("{workload}: where the cycles between {a} and {b} went"))
}

/// A note for the reader of the chart. It says where the axis begins, if not at zero, and that
/// small causes are shown a second time, if they are. Empty otherwise.
pub(super) fn about_axis(difference: &Difference) -> String {
    let panel = whole(difference, View::Broad);
    let mut text = String::new();
    if panel.is_zoomed() {
        text += &format!(
            " The axis begins at {} cycles, not at zero: the boxes of the two runs are cut.",
            tick(panel.low, panel.step)
        );
    }
    if enlarged(difference, &panel).is_some() {
        text += " The smallest causes are shown a second time below, on a larger scale.";
    }
    text
}

/// The table with the cycles of each cause in both runs.
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
    Table { caption: String::new(), headings: headings.map(str::to_owned).into(), rows, is_cards: true }
}

/// The waterfall chart with its legend and its table of numbers, as HTML.
pub(super) fn figure(difference: &Difference) -> String {
    let mut out = String::from("<figure>\n");
    out.push_str(&both(|view| draw(difference, view)));
    out.push_str("<figcaption>");
    out.push_str(&escape(&format!(
        "From {} down to {}: what each cause adds (to the right) or saves (to the left), in cycles. The causes add up to the whole difference.{}",
        difference.a,
        difference.b,
        about_axis(difference)
    )));
    out.push_str("</figcaption>\n</figure>\n");
    out.push_str(&details("Numbers", &table(difference).html()));
    out
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
            machine: Default::default(),
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

    fn value(line: &str, name: &str) -> f64 {
        let rest = &line[line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3..];
        rest[..rest.find('"').unwrap()].parse().unwrap()
    }

    /// The horizontal positions of the left and the right end of each box in the SVG text of a
    /// picture.
    fn boxes(svg: &str) -> Vec<(f64, f64)> {
        let lines = svg.lines().filter(|line| line.starts_with("<rect"));
        lines.map(|line| (value(line, "x"), value(line, "x") + value(line, "width"))).collect()
    }

    fn of(cycles_a: u64, parts: &[(&str, i64)]) -> Difference {
        let parts: Vec<Part> = parts
            .iter()
            .map(|&(cause, cycles)| part(cause, 1_000_000, (1_000_000 + cycles) as u64))
            .collect();
        let sum: i64 = parts.iter().map(|part| part.cycles).sum();
        let cycles_b = (cycles_a as i64 + sum) as u64;
        Difference { cycles_a, cycles_b, parts, ..difference() }
    }

    #[test]
    fn each_box_begins_where_the_one_before_it_ends() {
        for view in [View::Broad, View::Slim] {
            let svg = draw(&difference(), view);
            let [a, release, load, b] = boxes(&svg)[..] else { panic!("{svg}") };
            let near = |x: f64, y: f64| (x - y).abs() < 0.11;
            assert!(near(a.0, b.0) && near(a.1, release.1), "{svg}");
            assert!(near(release.0, load.0) && near(load.1, b.1), "{svg}");
            // The runs have 100 and 60 cycles; the causes between them save 50 and add 10.
            let share = |(from, to): (f64, f64)| ((to - from) / (a.1 - a.0) * 100.0).round();
            assert_eq!([release, load, b].map(share), [50.0, 10.0, 60.0]);
            assert!(svg.contains(">cycles<"), "the axis says its unit");
        }
    }

    #[test]
    fn a_small_difference_of_long_runs_has_a_zoomed_axis_and_a_note() {
        let difference = of(1_000_000, &[("load", 4000), ("release", -9000)]);
        let svg = draw(&difference, View::Broad);
        let release = boxes(&svg)[1];
        assert!(release.1 - release.0 > 200.0, "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 2, "both runs are cut");
        assert!(
            about_axis(&difference).contains("The axis begins at 990,000 cycles"),
            "{}",
            about_axis(&difference)
        );
        assert_eq!(about_axis(&self::difference()), "");
    }

    #[test]
    fn small_causes_beside_a_large_one_are_shown_enlarged() {
        let difference =
            of(1_000_000, &[("load", -900_000), ("launch", 3000), ("host", -1000), ("issue", 500)]);
        for view in [View::Broad, View::Slim] {
            let svg = draw(&difference, view);
            assert!(svg.contains("enlarged"), "{svg}");
            // The last three boxes are enlarged ones. Each must be wide enough to see.
            let boxes = boxes(&svg);
            assert_eq!(boxes.len(), 6 + 3);
            for (from, to) in &boxes[6..] {
                assert!(to - from > 20.0, "{svg}");
            }
        }
        assert!(!draw(&self::difference(), View::Broad).contains("enlarged"));
    }

    #[test]
    fn the_table_ends_with_the_whole_difference() {
        let html = table(&difference()).html();
        let last = html.lines().rev().find(|line| line.starts_with("<tr>")).unwrap();
        assert!(last.contains(">100<") && last.contains(">60<") && last.contains(">\u{2212}40<"), "{last}");
        assert!(html.contains(">launch<"), "what is the same is shown too");
    }
}
