//! The protocols in the form that the explorer and the random tester run.

use explore::Subject;
use proto::Protocol;

/// The protocol with this name, in the form that the explorer and the random tester run. `None` if
/// no protocol has this name.
#[must_use]
pub fn explored(name: &str) -> Option<Subject> {
    struct Explored;
    impl zoo::Visit for Explored {
        type Output = Subject;
        fn visit<P: Protocol>(self) -> Subject {
            Subject::of::<P>()
        }
    }
    zoo::with(name, Explored)
}
