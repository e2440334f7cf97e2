//! A macro that implements `Clone` so that `clone_from` reuses the memory of existing vectors.

/// Implements `Clone` for a structure from its fields. Its `clone_from` reuses the allocations of
/// the vectors in the fields, while the `clone_from` of a derived `Clone` allocates new vectors.
///
/// ```
/// struct Lines<S> {
///     states: Vec<S>,
///     bytes: Vec<u8>,
/// }
/// proto::clone_in_place! { [S: Clone] Lines<S> { states, bytes } }
///
/// let fresh = Lines { states: vec!['I'; 2], bytes: vec![0; 16] };
/// let mut used = Lines { states: vec!['V'; 2], bytes: vec![7; 16] };
/// let room = used.bytes.as_ptr();
/// used.clone_from(&fresh);
/// assert_eq!((used.states, &used.bytes), (fresh.states, &fresh.bytes));
/// assert_eq!(used.bytes.as_ptr(), room);
/// ```
#[macro_export]
macro_rules! clone_in_place {
    ([$($generics:tt)*] $type:ty { $($field:ident),+ $(,)? }) => {
        impl<$($generics)*> Clone for $type {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone()),+ }
            }
            fn clone_from(&mut self, from: &Self) {
                $(self.$field.clone_from(&from.$field);)+
            }
        }
    };
}
