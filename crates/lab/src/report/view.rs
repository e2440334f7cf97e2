//! The two sizes in which every picture of a page is drawn: for a wide screen and for a phone. The
//! style of the page hides the picture whose size does not fit the screen.

/// A size in which pictures are drawn. On a screen that is wide enough, a unit of a picture is a
/// pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The size for a wide screen.
    Broad,
    /// The size for a narrow screen, such as a phone.
    Slim,
}

impl View {
    /// The width of a picture of this size.
    pub(super) fn width(self) -> f64 {
        match self {
            View::Broad => 1000.0,
            View::Slim => 350.0,
        }
    }

    /// The height of a chart between the lower and the upper end of its vertical axis.
    pub(super) fn plot(self) -> f64 {
        match self {
            View::Broad => 230.0,
            View::Slim => 170.0,
        }
    }

    /// The usual width of a bar in a chart whose groups of bars need several rows.
    pub(super) fn bar(self) -> f64 {
        match self {
            View::Broad => 18.0,
            View::Slim => 14.0,
        }
    }
}

/// Draws a picture in both sizes, and returns both pictures as HTML. The page shows the picture
/// whose size fits the screen.
pub(super) fn both(draw: impl Fn(View) -> String) -> String {
    format!(
        "<div class=\"broad\">\n{}</div>\n<div class=\"slim\">\n{}</div>\n",
        draw(View::Broad),
        draw(View::Slim)
    )
}
