//! Writes reports, each as one self-contained HTML file.
//!
//! A report shows results figure by figure, with the numbers below each figure. The results come
//! from a reproduction ([`crate::results`]), from a study, or from the commands `compare` and
//! `why`. A report has no script and no external link. All text is escaped.

mod chart;
mod comparison;
mod escape;
mod html;
mod lines;
mod number;
mod paper;
mod study;
mod svg;
mod view;
mod waterfall;

pub use comparison::of_comparison;
pub use paper::of_results;
pub use study::of_study;
pub(crate) use study::{as_figure, at_text};

use crate::why::Difference;
use html::Page;

/// The HTML page that the command `fencepost why` writes: the difference in cycles between two
/// runs.
#[must_use]
pub fn of_difference(difference: &Difference) -> String {
    let Difference { system, machine, workload, seed, a, b, .. } = difference;
    let title = format!("{workload}: {a} and {b}");
    let mut page = Page::new(&title);
    page.element("h1", &title);
    page.raw("<p class=\"lead\">");
    page.raw(&escape::escape(&format!("Where the cycles went, on {}, seed {seed}.", machine.after(system))));
    page.raw("</p>\n");
    page.raw(&waterfall::figure(difference));
    page.finish()
}
