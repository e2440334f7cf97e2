//! The two sizes in which every picture is drawn: for a page and for a phone. The style of the page
//! hides the size that does not fit the screen.

/// A size of pictures. Its units are pixels on a screen that is wide enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The picture stands on a wide page.
    Broad,
    /// The picture stands on a narrow screen.
    Slim,
}

impl View {
    /// The width of a picture.
    pub(super) fn width(self) -> f64 {
        match self {
            View::Broad => 1000.0,
            View::Slim => 350.0,
        }
    }

    /// The height of the area between the lower and the upper end of the axis.
    pub(super) fn plot(self) -> f64 {
        match self {
            View::Broad => 230.0,
            View::Slim => 170.0,
        }
    }

    /// The width of a bar in a chart with several rows of groups.
    pub(super) fn bar(self) -> f64 {
        match self {
            View::Broad => 18.0,
            View::Slim => 14.0,
        }
    }
}

/// Draws a picture in both sizes, and returns them as HTML. The page shows the size that fits the
/// screen.
pub(super) fn both(draw: impl Fn(View) -> String) -> String {
    format!(
        "<div class=\"broad\">\n{}</div>\n<div class=\"slim\">\n{}</div>\n",
        draw(View::Broad),
        draw(View::Slim)
    )
}
