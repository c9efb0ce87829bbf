//! gpg's options: the table of them, the command line, configuration files, and what they set.

mod change_user;
pub(crate) mod config_file;
pub(crate) mod groups;
pub(crate) mod load;
pub(crate) mod meta;
pub(crate) mod parse;
pub(crate) mod refusal;
pub(crate) mod row;
pub(crate) mod table;
pub(crate) mod values;
pub(crate) mod words;
