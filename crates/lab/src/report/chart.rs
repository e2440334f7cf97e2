//! Bars in groups, plain or stacked, with an axis.

use crate::results::{Bar, Figure, Interval, Shape};

use super::number::{short, ticks};
use super::svg::{Anchor, Fill, Picture};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 24.0;
const PLOT: f64 = 230.0;

/// Bars higher than so many times what nearly all others are get cut, with
/// their number above them: or the others could not be read.
const CUT_ABOVE: f64 = 2.5;

/// From values to heights.
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

    fn y(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        TOP + PLOT * (1.0 - share)
    }

    fn draw(&self, picture: &mut Picture, unit: &str) {
        let count = ((self.high - self.low) / self.step).round() as usize;
        for tick in 0..=count {
            let value = self.low + self.step * tick as f64;
            let y = self.y(value);
            picture.line([LEFT, y, WIDTH, y], if value.abs() < 1e-12 { 0.7 } else { 0.13 });
            picture.text(LEFT - 6.0, y + 4.0, 12.0, Anchor::End, &short(value));
        }
        picture.text(0.0, 12.0, 12.0, Anchor::Start, unit);
        let is_relative = ["speedup", "relative", "normalized"].iter().any(|word| unit.contains(word));
        if is_relative && self.low < 1.0 && self.high > 1.0 {
            picture.dashes([LEFT, self.y(1.0), WIDTH, self.y(1.0)]);
        }
    }
}

/// The whole height of a bar; nothing if one of its parts is missing.
fn total(bar: &Bar) -> Option<f64> {
    bar.values.iter().map(|value| value.map(|value| value.mean)).sum()
}

/// The figure, drawn. A scenario has the colour of its place in `colours`.
pub(super) fn draw(figure: &Figure, colours: &[&str]) -> String {
    let stacked = figure.shape == Shape::Stacks;
    let bars = || figure.groups.iter().flat_map(|group| &group.bars);
    let highs = |bar: &Bar| match stacked {
        true => total(bar),
        false => bar.values.first().copied().flatten().map(|value| value.high.max(value.mean)),
    };
    let published = bars().flat_map(|bar| bar.published.iter().flatten().copied());
    let values: Vec<f64> = bars().filter_map(highs).chain(published.filter(|_| !stacked)).collect();
    let axis = Axis::over(&values);
    // Bars in a stack need their names below; others have a colour.
    let names = if stacked { longest(bars().map(|bar| bar.scenario.as_str())) * 5.6 + 8.0 } else { 4.0 };
    let mut picture = Picture::new(WIDTH, TOP + PLOT + names + 24.0);
    axis.draw(&mut picture, &figure.unit);
    let slots: usize = figure.groups.iter().map(|group| group.bars.len()).sum();
    let gap = if stacked { 14.0 } else { 16.0 };
    let room = WIDTH - LEFT - gap * figure.groups.len() as f64;
    let width = (room / slots.max(1) as f64).min(46.0);
    let used = width * slots as f64 + gap * figure.groups.len() as f64;
    let mut x = LEFT + gap / 2.0 + (WIDTH - LEFT - used) / 2.0;
    for (number, group) in figure.groups.iter().enumerate() {
        let is_first_mean = group.is_mean && number > 0 && !figure.groups[number - 1].is_mean;
        if is_first_mean {
            picture.line([x - gap / 2.0, TOP, x - gap / 2.0, TOP + PLOT + names + 14.0], 0.4);
        }
        let from = x;
        for bar in &group.bars {
            let place = Place { x: x + 0.5, width: width - 1.0, group: &group.label };
            if stacked {
                stack(&mut picture, &axis, place, bar, &figure.parts);
                let middle = x + width / 2.0 + 3.5;
                picture.text_upward(middle, TOP + PLOT + 6.0, 10.0, Anchor::End, &bar.scenario);
            } else {
                let fill = fill_of(&bar.scenario, colours);
                plain(&mut picture, &axis, place, bar, fill);
            }
            x += width;
        }
        let y = TOP + PLOT + names + 14.0;
        picture.text((from + x) / 2.0, y, 12.5, Anchor::Middle, &group.label);
        x += gap;
    }
    picture.finish(&format!("{}: {}", figure.title, figure.unit))
}

/// The colour of a scenario.
pub(super) fn fill_of(scenario: &str, colours: &[&str]) -> Fill {
    Fill(colours.iter().position(|name| *name == scenario).unwrap_or(colours.len()))
}

/// The scenarios of a figure, in the order in which they first come.
pub(super) fn scenarios(figure: &Figure) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for bar in figure.groups.iter().flat_map(|group| &group.bars) {
        if !names.contains(&bar.scenario.as_str()) {
            names.push(&bar.scenario);
        }
    }
    names
}

fn longest<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    names.map(|name| name.chars().count()).max().unwrap_or(0) as f64
}

/// Where a bar stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    x: f64,
    width: f64,
    group: &'a str,
}

fn plain(picture: &mut Picture, axis: &Axis, place: Place<'_>, bar: &Bar, fill: Fill) {
    let Place { x, width, group } = place;
    let middle = x + width / 2.0;
    let Some(value) = bar.values.first().copied().flatten() else {
        return missing(picture, axis, place, bar);
    };
    let zero = axis.y(0.0_f64.max(axis.low));
    let top = axis.y(value.mean);
    let says = format!("{group}, {}: {}", bar.scenario, with_interval(&value));
    picture.bar([x, top.min(zero), width, (top - zero).abs()], fill, &says);
    if value.mean > axis.high {
        cut(picture, middle, value.mean);
    } else if value.high > value.low {
        let (low, high) = (axis.y(value.low), axis.y(value.high));
        let cap = (width / 4.0).min(4.0);
        picture.line([middle, low, middle, high], 0.9);
        picture.line([middle - cap, low, middle + cap, low], 0.9);
        picture.line([middle - cap, high, middle + cap, high], 0.9);
    }
    if let Some(published) = bar.published.first().copied().flatten() {
        let says = format!("{group}, {}: {} published", bar.scenario, short(published));
        picture.diamond(middle, axis.y(published), (width / 3.0).min(5.0), &says);
    }
}

fn stack(picture: &mut Picture, axis: &Axis, place: Place<'_>, bar: &Bar, parts: &[String]) {
    let Place { x, width, group } = place;
    let Some(all) = total(bar) else { return missing(picture, axis, place, bar) };
    let mut below = 0.0;
    for (number, (value, part)) in bar.values.iter().flatten().zip(parts).enumerate() {
        let (bottom, top) = (axis.y(below), axis.y(below + value.mean));
        below += value.mean;
        if value.mean != 0.0 {
            let says = format!("{group}, {}, {part}: {} of {}", bar.scenario, short(value.mean), short(all));
            picture.bar([x, top, width, bottom - top], Fill(number), &says);
        }
    }
    if all > axis.high {
        cut(picture, x + width / 2.0, all);
    }
}

/// A bar that goes on beyond the axis, with its number.
fn cut(picture: &mut Picture, middle: f64, value: f64) {
    picture.text(middle, TOP - 3.0, 10.0, Anchor::Middle, &format!("{}\u{2191}", short(value)));
}

fn missing(picture: &mut Picture, axis: &Axis, place: Place<'_>, bar: &Bar) {
    let why = bar.missing.as_deref().unwrap_or("not measured");
    let y = axis.y(0.0_f64.max(axis.low)) - 4.0;
    picture.text(place.x + place.width / 2.0, y, 12.0, Anchor::Middle, "\u{d7}");
    let says = format!("{}, {}: {why}", place.group, bar.scenario);
    picture.bar([place.x, y + 2.0, place.width, 2.0], Fill(6), &says);
}

/// A mean with its interval, in words.
pub(super) fn with_interval(value: &Interval) -> String {
    if value.high > value.low {
        format!("{} ({} to {})", short(value.mean), short(value.low), short(value.high))
    } else {
        short(value.mean)
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
