//! Delegation of a controller's methods to an inner controller.

/// Generates methods of a [`Controller`](crate::Controller) that only call the same method of a
/// controller in a field: `delegate! { cache: victims, lines }` uses the field `cache`. At the
/// place where the macro is used, the protocol must have the name `P`.
#[macro_export]
macro_rules! delegate {
    (@victims $inner:tt) => {
        fn victims(&self, set: $crate::SetIndex, out: &mut Vec<($crate::Way, $crate::Rank)>) {
            $crate::Controller::<P>::victims(&self.$inner, set, out);
        }
    };
    (@occupied $inner:tt) => {
        fn occupied(&self, set: $crate::SetIndex, out: &mut Vec<$crate::Way>) {
            $crate::Controller::<P>::occupied(&self.$inner, set, out);
        }
    };
    (@limit_ways $inner:tt) => {
        fn limit_ways(&mut self, ways: u32) -> bool {
            $crate::Controller::<P>::limit_ways(&mut self.$inner, ways)
        }
    };
    (@lines $inner:tt) => {
        fn lines(&self, out: &mut Vec<$crate::LineView>) {
            $crate::Controller::<P>::lines(&self.$inner, out);
        }
    };
    (@is_quiet $inner:tt) => {
        fn is_quiet(&self) -> bool {
            $crate::Controller::<P>::is_quiet(&self.$inner)
        }
    };
    (@miscount $inner:tt) => {
        fn miscount(&self) -> Option<&'static str> {
            $crate::Controller::<P>::miscount(&self.$inner)
        }
    };
    (@canonicalize $inner:tt) => {
        fn canonicalize(&mut self) {
            $crate::Controller::<P>::canonicalize(&mut self.$inner);
        }
    };
    ($inner:tt: $($method:ident),+) => { $( $crate::delegate! { @$method $inner } )+ };
}
