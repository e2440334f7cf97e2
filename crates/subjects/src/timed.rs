//! The protocols in the form that the simulator runs.

use proto::Protocol;
use sim::Subject;

/// The protocol with this name, in the form that the simulator runs. `None` if no protocol has this
/// name.
#[must_use]
pub fn timed(name: &str) -> Option<Subject> {
    struct Timed;
    impl zoo::Visit for Timed {
        type Output = Subject;
        fn visit<P: Protocol>(self) -> Subject {
            Subject::of::<P>()
        }
    }
    zoo::with(name, Timed)
}
