//! The traits of values in statements, in a build without a client for servers: every type has them.

/// A parameter.
pub(crate) trait ServerParameter {}

impl<T: ?Sized> ServerParameter for T {}

/// A value in a row.
pub(crate) trait ServerColumn {}

impl<T: ?Sized> ServerColumn for T {}
