//! What a server's client would ask of the values of statements, where there is none: nothing.

/// A parameter.
pub(crate) trait ServerParameter {}

impl<T: ?Sized> ServerParameter for T {}

/// A value in a row.
pub(crate) trait ServerColumn {}

impl<T: ?Sized> ServerColumn for T {}
