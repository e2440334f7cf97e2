//! Draws charts of grouped bars with an axis. The bars are plain, or divided into parts (stacked).
//!
//! The caller gives the width of a picture. Groups that do not fit beside each other continue in
//! another row of the same picture. A group is at least as wide as its label, so that labels do not
//! overlap.

use crate::results::{Bar, Figure, Group, Interval, Shape};

use super::number::{apart, as_published, mean_and_ends, short, tick, ticks};
use super::svg::{Anchor, Fill, Picture, width_of, wrap};
use super::view::View;

const LABEL: f64 = 12.5;
const TICK: f64 = 12.0;
const NAME: f64 = 10.0;
const LINE: f64 = 15.0;
const GAP: f64 = 14.0;
/// The height of the space above the axis, in pixels. The values of bars that are too high for the
/// axis (cut bars) are written there.
const CUT_ROOM: f64 = 34.0;
/// The minimum width of a bar, in pixels. Vertical text fits into this width.
const BAR_MIN: f64 = 12.0;
const BAR_MAX: f64 = 46.0;

/// If the highest bar is more than this factor higher than the third quartile of all bars, the axis
/// ends below the highest bar. A bar that is higher than the axis is drawn cut, and its value is
/// written above the bar. Without the cut, the other bars would be too small to read.
const CUT_ABOVE: f64 = 2.5;

/// The vertical axis of a chart: its lowest value, its highest value, and the step between two
/// ticks.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn over(values: &[f64]) -> Axis {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.last().copied().unwrap_or(1.0);
        let usual = sorted.get(sorted.len().saturating_sub(1) * 3 / 4).copied().unwrap_or(1.0);
        let high = if usual > 0.0 && last > CUT_ABOVE * usual { usual * 1.25 } else { last };
        let low = sorted.first().copied().unwrap_or(0.0).min(0.0);
        let (low, high, step) = ticks(low, if high > low { high } else { low + 1.0 });
        Axis { low, high, step }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let count = ((self.high - self.low) / self.step).round() as usize;
        (0..=count).map(|tick| self.low + self.step * tick as f64)
    }

    /// The width that the numbers beside the axis need, in pixels.
    fn room(&self) -> f64 {
        let widths = self.ticks().map(|value| width_of(&tick(value, self.step), TICK));
        widths.fold(0.0, f64::max) + 10.0
    }
}

/// The position and size of a row of groups of bars. Each row of a chart has a drawn axis of its
/// own.
struct Row<'a> {
    axis: &'a Axis,
    left: f64,
    right: f64,
    /// The vertical position of the upper end of the axis. The field `bottom` has the position of
    /// the lower end.
    top: f64,
    bottom: f64,
    bar: f64,
}

impl Row<'_> {
    fn y(&self, value: f64) -> f64 {
        let Axis { low, high, .. } = *self.axis;
        let share = (value.clamp(low, high) - low) / (high - low);
        self.bottom - (self.bottom - self.top) * share
    }

    fn zero(&self) -> f64 {
        self.y(0.0_f64.max(self.axis.low))
    }

    fn draw_axis(&self, picture: &mut Picture, is_relative: bool) {
        for value in self.axis.ticks() {
            let y = self.y(value);
            picture.line([self.left, y, self.right, y], if value.abs() < 1e-12 { 0.7 } else { 0.13 });
            picture.text(self.left - 6.0, y + 4.0, TICK, Anchor::End, &tick(value, self.axis.step));
        }
        if is_relative {
            picture.dashes([self.left, self.y(1.0), self.right, self.y(1.0)]);
        }
    }
}

/// Returns true if the chart has a line at the value 1: the values are ratios to a baseline, and
/// the axis contains 1.
pub(super) fn has_unity(figure: &Figure) -> bool {
    let axis = Axis::over(&heights(figure));
    let is_relative =
        ["speedup", "relative", "normalized", " over "].iter().any(|word| figure.unit.contains(word));
    is_relative && axis.low < 1.0 && axis.high > 1.0
}

/// Returns true if some bar is higher than the axis. Such a bar is drawn cut.
pub(super) fn is_cut(figure: &Figure) -> bool {
    let heights = heights(figure);
    let axis = Axis::over(&heights);
    heights.iter().any(|height| *height > axis.high)
}

/// The sum of the parts of a bar. `None` if a part has no value.
fn total(bar: &Bar) -> Option<f64> {
    bar.values.iter().map(|value| value.map(|value| value.mean)).sum()
}

fn heights(figure: &Figure) -> Vec<f64> {
    let stacked = figure.shape == Shape::Stacks;
    let bars = || figure.groups.iter().flat_map(|group| &group.bars);
    let high = |bar: &Bar| match stacked {
        true => total(bar),
        false => bar.values.first().copied().flatten().map(|value| value.high.max(value.mean)),
    };
    let published = |bar: &Bar| {
        let ends = bar.published_range.into_iter().flatten();
        bar.published.iter().flatten().copied().chain(ends).collect::<Vec<_>>()
    };
    let all = bars().filter_map(high);
    if stacked { all.collect() } else { all.chain(bars().flat_map(published)).collect() }
}

/// The label of a group of bars, divided into lines of at most `width` pixels.
fn label_lines(group: &Group, width: f64) -> Vec<String> {
    wrap(&group.label, LABEL, width)
}

/// The width that a group needs for its bars and for the longest word of its label, but at most
/// `most`. `bar` is the width of one bar.
fn group_width(group: &Group, bar: f64, most: f64) -> f64 {
    let words = group.label.split_inclusive([' ', '-', ',']).map(|word| width_of(word.trim_end(), LABEL));
    let label = words.fold(0.0, f64::max) + 1.0;
    (bar * group.bars.len() as f64).max(label).min(most)
}

/// Returns the width of one bar, and the groups of each row. The bars are as wide as possible if
/// all groups fit into one row. Otherwise the bars have the usual width, and the groups take
/// several rows.
fn rows_of(groups: &[Group], room: f64, view: View) -> (f64, Vec<Vec<&Group>>) {
    let most = room - GAP;
    let taken = |bar: f64| groups.iter().map(|group| group_width(group, bar, most) + GAP).sum::<f64>();
    let mut bar = BAR_MAX;
    while bar > BAR_MIN && taken(bar) > room {
        bar -= 0.5;
    }
    if taken(bar) <= room {
        return (bar, vec![groups.iter().collect()]);
    }
    // A group must fit into a row, however many bars it has.
    let longest = groups.iter().map(|group| group.bars.len()).max().unwrap_or(1).max(1);
    let bar = view.bar().min(most / longest as f64);
    let mut rows: Vec<Vec<&Group>> = Vec::new();
    let mut left = 0.0;
    for group in groups {
        let width = group_width(group, bar, most) + GAP;
        if left < width || rows.is_empty() {
            rows.push(Vec::new());
            left = room;
        }
        rows.last_mut().expect("a row was just added").push(group);
        left -= width;
    }
    (bar, rows)
}

/// Draws the figure as an SVG picture. The position of a scenario in the list `colours` determines
/// the scenario's colour.
pub(super) fn draw(figure: &Figure, colours: &[&str], view: View) -> String {
    let stacked = figure.shape == Shape::Stacks;
    let axis = Axis::over(&heights(figure));
    let is_cut = is_cut(figure);
    let (left, right) = (axis.room(), view.width());
    let (bar, rows) = rows_of(&figure.groups, right - left, view);
    let mut picture = Picture::new(right, 0.0);
    let mut y = TICK;
    for line in wrap(&figure.unit, TICK, right) {
        picture.text(0.0, y, TICK, Anchor::Start, &line);
        y += LINE;
    }
    // Below stacked bars stand the names of scenarios, which need space. Plain bars have colours
    // instead.
    let names = figure.groups.iter().flat_map(|group| &group.bars).map(|bar| width_of(&bar.scenario, NAME));
    let names = if stacked { names.fold(0.0, f64::max) + 8.0 } else { 4.0 };
    for groups in rows {
        let top = y + if is_cut { CUT_ROOM } else { 2.0 };
        let row = Row { axis: &axis, left, right, top, bottom: top + view.plot(), bar };
        row.draw_axis(&mut picture, has_unity(figure));
        y = draw_groups(&mut picture, &row, &groups, figure, names, colours) + LINE;
    }
    picture.grow(y);
    picture.finish(&format!("{}: {}", figure.title, figure.unit))
}

/// Draws the groups of bars of a row, with their labels, and returns the vertical position at which
/// the row ends.
fn draw_groups(
    picture: &mut Picture,
    row: &Row<'_>,
    groups: &[&Group],
    figure: &Figure,
    names: f64,
    colours: &[&str],
) -> f64 {
    let room = row.right - row.left;
    let width = |group: &Group| group_width(group, row.bar, room - GAP);
    let used: f64 = groups.iter().map(|group| width(group) + GAP).sum();
    let mut x = row.left + GAP / 2.0 + (room - used).max(0.0) / 2.0;
    let below = row.bottom + names + LINE;
    let mut end = below;
    for (number, group) in groups.iter().enumerate() {
        let width = width(group);
        if group.is_mean && number > 0 && !groups[number - 1].is_mean {
            picture.line([x - GAP / 2.0, row.top, x - GAP / 2.0, row.bottom + names], 0.4);
        }
        let first = x + (width - row.bar * group.bars.len() as f64) / 2.0;
        for (at, bar) in group.bars.iter().enumerate() {
            let place = BarPosition {
                x: first + row.bar * at as f64 + 0.5,
                width: row.bar - 1.0,
                group: &group.label,
            };
            if figure.shape == Shape::Stacks {
                stack(picture, row, place, bar, &figure.parts);
                let middle = place.x + place.width / 2.0 + 3.5;
                picture.text_upward(middle, row.bottom + 6.0, NAME, Anchor::End, &bar.scenario);
            } else {
                plain(picture, row, place, bar, fill_of(&bar.scenario, colours));
            }
        }
        for (at, line) in label_lines(group, width + 1.0).iter().enumerate() {
            let y = below + LINE * at as f64;
            picture.text(x + width / 2.0, y, LABEL, Anchor::Middle, line);
            end = end.max(y);
        }
        x += width + GAP;
    }
    end
}

/// The fill colour of a scenario. The position of the scenario in the list `colours` determines it.
pub(super) fn fill_of(scenario: &str, colours: &[&str]) -> Fill {
    Fill(colours.iter().position(|name| *name == scenario).unwrap_or(colours.len()))
}

/// The scenarios of a figure, in the order of first appearance.
pub(super) fn scenarios(figure: &Figure) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for bar in figure.groups.iter().flat_map(|group| &group.bars) {
        if !names.contains(&bar.scenario.as_str()) {
            names.push(&bar.scenario);
        }
    }
    names
}

/// The position of a bar in the picture, and the label of the bar's group.
#[derive(Clone, Copy)]
struct BarPosition<'a> {
    x: f64,
    width: f64,
    group: &'a str,
}

fn plain(picture: &mut Picture, row: &Row<'_>, place: BarPosition<'_>, bar: &Bar, fill: Fill) {
    let BarPosition { x, width, group } = place;
    let middle = x + width / 2.0;
    let Some(value) = bar.values.first().copied().flatten() else {
        missing(picture, row, place, bar);
        return published(picture, row, place, bar);
    };
    let (zero, top) = (row.zero(), row.y(value.mean));
    let says = format!("{group}, {}: {}", bar.scenario, with_interval(&value));
    picture.bar([x, top.min(zero), width, (top - zero).abs()], fill, &says);
    if value.mean > row.axis.high {
        cut(picture, row, middle, value.mean);
    } else if value.high > value.low {
        let (low, high) = (row.y(value.low), row.y(value.high));
        let cap = (width / 4.0).min(4.0);
        picture.line([middle, low, middle, high], 0.9);
        picture.line([middle - cap, low, middle + cap, low], 0.9);
        picture.line([middle - cap, high, middle + cap, high], 0.9);
    }
    published(picture, row, place, bar);
}

/// Draws the published value of a bar. One value is a diamond, and a range is two diamonds joined
/// by a line.
fn published(picture: &mut Picture, row: &Row<'_>, place: BarPosition<'_>, bar: &Bar) {
    let BarPosition { x, width, group } = place;
    let (middle, size) = (x + width / 2.0, (width / 3.0).min(5.0));
    let says = |text: &str| format!("{group}, {}: {text} published", bar.scenario);
    if let Some(value) = bar.published.first().copied().flatten() {
        picture.diamond(middle, row.y(value), size, &says(&as_published(&[value])[0]));
    } else if let Some([low, high]) = bar.published_range {
        let text = says(&as_published(&[low, high]).join(" to "));
        picture.line([middle, row.y(low), middle, row.y(high)], 0.9);
        picture.diamond(middle, row.y(low), size, &text);
        picture.diamond(middle, row.y(high), size, &text);
    }
}

fn stack(picture: &mut Picture, row: &Row<'_>, place: BarPosition<'_>, bar: &Bar, parts: &[String]) {
    let BarPosition { x, width, group } = place;
    let Some(all) = total(bar) else { return missing(picture, row, place, bar) };
    let mut below = 0.0;
    for (number, (value, part)) in bar.values.iter().flatten().zip(parts).enumerate() {
        let (bottom, top) = (row.y(below), row.y(below + value.mean));
        below += value.mean;
        if value.mean != 0.0 {
            let says = format!("{group}, {}, {part}: {} of {}", bar.scenario, short(value.mean), short(all));
            picture.bar([x, top, width, bottom - top], Fill(number), &says);
        }
    }
    if all > row.axis.high {
        cut(picture, row, x + width / 2.0, all);
    }
}

/// Draws the end of a bar that is higher than the axis, with the value of the bar as vertical text.
fn cut(picture: &mut Picture, row: &Row<'_>, middle: f64, value: f64) {
    picture.text_upward(
        middle + 3.5,
        row.top - 3.0,
        NAME,
        Anchor::Start,
        &format!("{}\u{2192}", short(value)),
    );
}

fn missing(picture: &mut Picture, row: &Row<'_>, place: BarPosition<'_>, bar: &Bar) {
    let why = bar.missing.as_deref().unwrap_or("not measured");
    let y = row.zero() - 4.0;
    picture.text(place.x + place.width / 2.0, y, TICK, Anchor::Middle, "\u{d7}");
    let says = format!("{}, {}: {why}", place.group, bar.scenario);
    picture.bar([place.x, y + 2.0, place.width, 2.0], Fill(6), &says);
}

/// The text of a mean, with its confidence interval if the interval is not a single value.
pub(super) fn with_interval(value: &Interval) -> String {
    with_interval_apart(value, &[])
}

/// The text of a mean, with its confidence interval if the interval is not a single value. Each
/// number has enough decimals that its text differs from the text of every threshold that it does
/// not equal.
pub(super) fn with_interval_apart(value: &Interval, thresholds: &[f64]) -> String {
    if value.high > value.low {
        let [mean, low, high] = mean_and_ends(value.mean, value.low, value.high, thresholds);
        format!("{mean} ({low} to {high})")
    } else {
        apart(&[value.mean], thresholds).remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_high_bars_are_cut_and_many_are_not() {
        let mut values = vec![1.0; 30];
        values.extend([127.0; 6]);
        assert_eq!(Axis::over(&values).high, 1.5);
        assert_eq!(Axis::over(&[1.0, 1.1, 1.2, 127.0, 127.0]).high, 150.0);
        assert_eq!(Axis::over(&[]).high, 1.0);
    }
}
