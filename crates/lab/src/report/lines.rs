//! Draws line charts: one line for each series of values, with error bars at the points of the
//! line.

use super::chart::with_interval;
use super::number::{tick, ticks};
use super::svg::{Anchor, Fill, Picture, width_of, wrap};
use super::view::View;
use crate::results::Interval;

const TICK: f64 = 12.0;
const LINE: f64 = 15.0;
/// The size of the mark at a point of a line, in units of the picture.
const MARK: f64 = 3.6;
/// The horizontal space between an end of the plot and the nearest point, in units of the picture.
const MARGIN: f64 = 24.0;

/// The limit for a small range of values, as a fraction of the largest value. If all values are
/// positive and the difference between the largest and the smallest value is below this fraction of
/// the largest value, the vertical axis does not begin at zero.
const SMALL_RANGE: f64 = 0.2;

/// A line chart, with its axes and its series.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) title: String,
    /// The name of the horizontal axis.
    pub(super) x: String,
    /// The unit of the vertical axis.
    pub(super) unit: String,
    /// Whether the horizontal axis is logarithmic.
    pub(super) is_log: bool,
    pub(super) series: Vec<Series>,
}

/// One line of a chart: a series of points with a name and a colour.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) fill: Fill,
    pub(super) points: Vec<Point>,
}

/// A point of a line. The point has no value if a run is missing or has no right answer.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    /// The text that the horizontal axis shows at the point's position.
    pub(super) label: String,
    pub(super) value: Option<Interval>,
    pub(super) missing: String,
}

impl Lines {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// Returns true if at least one point has a confidence interval that is not a single value.
    pub(super) fn has_intervals(&self) -> bool {
        self.points().filter_map(|point| point.value).any(|value| value.high > value.low)
    }

    /// Returns true if at least one point has no value.
    pub(super) fn has_missing(&self) -> bool {
        self.points().any(|point| point.value.is_none())
    }

    /// The lower end and the upper end of the vertical axis, and the step between its ticks.
    fn vertical(&self) -> (f64, f64, f64) {
        let values = || self.points().filter_map(|point| point.value);
        let high = values().map(|value| value.high.max(value.mean)).fold(f64::NEG_INFINITY, f64::max);
        let low = values().map(|value| value.low.min(value.mean)).fold(f64::INFINITY, f64::min);
        if !(high.is_finite() && low.is_finite()) {
            return ticks(0.0, 1.0);
        }
        let is_small = low > 0.0 && high - low < SMALL_RANGE * high && high > low;
        let low = if is_small { low } else { low.min(0.0) };
        ticks(low, if high > low { high } else { low + 1.0 })
    }

    /// A sentence that says where the vertical axis begins, if it begins above zero. Empty
    /// otherwise.
    pub(super) fn about_axis(&self) -> String {
        match self.vertical() {
            (low, _, step) if low > 0.0 => {
                format!(" The vertical axis begins at {}, not at zero.", tick(low, step))
            }
            _ => String::new(),
        }
    }

    /// The horizontal positions of all points, in ascending order and without duplicates. Each
    /// position has the text that the axis shows there.
    fn positions(&self) -> Vec<(f64, &str)> {
        let mut all: Vec<(f64, &str)> = self.points().map(|point| (point.x, point.label.as_str())).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.dedup_by(|a, b| a.0 == b.0);
        all
    }
}

/// The area of a line chart inside its axes. It converts values to positions in the picture.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The lowest and the highest value on the horizontal axis, in units of the data. The field `y`
    /// has those of the vertical axis.
    x: (f64, f64),
    y: (f64, f64),
    is_log: bool,
}

impl Plot {
    fn x(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.is_log { value.ln() } else { value };
        let (low, high) = (scaled(self.x.0), scaled(self.x.1));
        let share = if high > low { (scaled(value) - low) / (high - low) } else { 0.5 };
        self.left + MARGIN + (self.right - self.left - 2.0 * MARGIN) * share
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.y;
        self.bottom - (self.bottom - self.top) * (value.clamp(low, high) - low) / (high - low)
    }
}

/// Draws a line chart as an SVG picture.
pub(super) fn draw(lines: &Lines, view: View) -> String {
    let (low, high, step) = lines.vertical();
    let count = ((high - low) / step).round() as usize;
    let levels: Vec<f64> = (0..=count).map(|at| low + step * at as f64).collect();
    let room = levels.iter().map(|value| width_of(&tick(*value, step), TICK)).fold(0.0, f64::max) + 10.0;
    let mut picture = Picture::new(view.width(), 0.0);
    let mut y = TICK;
    for line in wrap(&lines.unit, TICK, view.width()) {
        picture.text(0.0, y, TICK, Anchor::Start, &line);
        y += LINE;
    }
    let positions = lines.positions();
    let ends = (positions.first().map_or(0.0, |p| p.0), positions.last().map_or(1.0, |p| p.0));
    let plot = Plot {
        left: room,
        right: view.width(),
        top: y + 2.0,
        bottom: y + 2.0 + view.plot(),
        x: ends,
        y: (low, high),
        is_log: lines.is_log,
    };
    for value in levels {
        let y = plot.y(value);
        let is_zero = value.abs() < step * 1e-9;
        picture.line([plot.left, y, plot.right, y], if is_zero { 0.7 } else { 0.13 });
        picture.text(plot.left - 6.0, y + 4.0, TICK, Anchor::End, &tick(value, step));
    }
    let y = horizontal(&mut picture, &plot, &positions) + LINE + 2.0;
    let middle = f64::midpoint(plot.left, plot.right);
    picture.text(middle, y, TICK, Anchor::Middle, &lines.x);
    for series in &lines.series {
        draw_series(&mut picture, &plot, series, &lines.x);
    }
    picture.grow(y + 6.0);
    picture.finish(&format!("{}: {} by {}", lines.title, lines.unit, lines.x))
}

/// Draws the ticks and the numbers of the horizontal axis. Returns the vertical position of the
/// numbers. A number that would touch the previous number is left out.
fn horizontal(picture: &mut Picture, plot: &Plot, positions: &[(f64, &str)]) -> f64 {
    let y = plot.bottom + LINE + 3.0;
    let mut free = f64::NEG_INFINITY;
    for (value, label) in positions {
        let (x, half) = (plot.x(*value), width_of(label, TICK) / 2.0);
        picture.line([x, plot.bottom, x, plot.bottom + 4.0], 0.5);
        if x - half >= free {
            // The first and the last number stay inside the picture.
            let centre = x.min(plot.right - half).max(half);
            picture.text(centre, y, TICK, Anchor::Middle, label);
            free = centre + half + 6.0;
        }
    }
    y
}

fn draw_series(picture: &mut Picture, plot: &Plot, series: &Series, x_name: &str) {
    let mut points: Vec<&Point> = series.points.iter().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    // A point without a value interrupts the line.
    for run in points.split(|point| point.value.is_none()) {
        let places = run.iter().filter_map(|point| Some((plot.x(point.x), plot.y(point.value?.mean))));
        picture.path(&places.collect::<Vec<_>>(), series.fill);
    }
    for point in points {
        let x = plot.x(point.x);
        let place = format!("{}, {x_name} {}", series.name, point.label);
        let Some(value) = point.value else {
            picture.text_with_title(
                x,
                plot.bottom - 4.0,
                TICK,
                "\u{d7}",
                &format!("{place}: {}", point.missing),
            );
            continue;
        };
        if value.high > value.low {
            let (low, high) = (plot.y(value.low), plot.y(value.high));
            picture.line([x, low, x, high], 0.7);
            picture.line([x - 3.0, low, x + 3.0, low], 0.7);
            picture.line([x - 3.0, high, x + 3.0, high], 0.7);
        }
        let says = format!("{place}: {}", with_interval(&value));
        picture.mark(x, plot.y(value.mean), MARK, series.fill, &says);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(is_log: bool, points: &[(f64, Option<f64>)]) -> Lines {
        let point = |&(x, mean): &(f64, Option<f64>)| Point {
            x,
            label: x.to_string(),
            value: mean.map(|mean| Interval { mean, low: mean, high: mean }),
            missing: "stuck".to_owned(),
        };
        let points = points.iter().map(point).collect();
        let series = vec![Series { name: "vi".to_owned(), fill: Fill(0), points }];
        Lines { title: "t".to_owned(), x: "n".to_owned(), unit: "cycles".to_owned(), is_log, series }
    }

    /// The horizontal positions of the marks of points in the SVG text of a picture.
    fn marks(svg: &str) -> Vec<f64> {
        let circles = svg.lines().filter(|line| line.starts_with("<circle"));
        circles.map(|line| line.split('"').nth(1).unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn equal_factors_are_equal_distances_on_a_logarithmic_axis() {
        let points = [(1.0, Some(3.0)), (8.0, Some(2.0)), (64.0, Some(1.0))];
        for view in [View::Broad, View::Slim] {
            let at = marks(&draw(&lines(true, &points), view));
            assert!((at[1] - at[0] - (at[2] - at[1])).abs() < 0.2, "{at:?}");
            let at = marks(&draw(&lines(false, &points), view));
            assert!(((at[2] - at[1]) / (at[1] - at[0]) - 8.0).abs() < 0.2, "{at:?}");
        }
    }

    #[test]
    fn a_line_breaks_at_a_missing_value_and_says_why() {
        let svg = draw(
            &lines(false, &[(1.0, Some(1.0)), (2.0, Some(1.0)), (3.0, None), (4.0, Some(2.0))]),
            View::Broad,
        );
        assert_eq!((marks(&svg).len(), svg.matches("<polyline").count()), (3, 1), "{svg}");
        assert!(svg.contains("vi, n 3: stuck"), "{svg}");
    }

    #[test]
    fn values_that_differ_little_have_an_axis_that_does_not_begin_at_zero_and_says_so() {
        let near = lines(false, &[(1.0, Some(1000.0)), (2.0, Some(1010.0))]);
        assert_eq!(near.about_axis(), " The vertical axis begins at 1,000, not at zero.");
        assert_eq!(lines(false, &[(1.0, Some(1.0)), (2.0, Some(9.0))]).about_axis(), "");
        // A figure with one point, a figure whose only point has no value, and a figure without
        // points.
        assert_eq!(lines(false, &[(1.0, Some(7.0))]).about_axis(), "");
        assert!(draw(&lines(false, &[(1.0, None)]), View::Slim).contains("stuck"));
        assert!(draw(&lines(true, &[]), View::Slim).starts_with("<svg"));
    }
}
