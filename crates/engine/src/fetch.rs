//! Keys from the network: asked for, filtered, imported; and sent to keyservers and web servers.
//!
//! What comes back is not believed. Of an answer, only the certificates are taken that were asked for: that have the
//! fingerprint, key ID or address, verified as in every import. From a Web Key Directory or the DNS, a certificate is
//! taken with the user IDs of the address alone. Secret keys and lone revocations are left out. What is taken goes through the
//! ordinary import: the journal's entry and the certificate's origin say from where and when it came, and `undo` takes
//! it back.
//!
//! - [`Request`]: what the user asks for; [`FetchSource`]: where that is looked for; [`fetch`]: asks one after the other.
//! - [`take`]: takes an answer in.
//! - [`refresh`]: asks again for what is here.
//! - [`publish`]: the packets that are sent; [`write_directory`]: a Web Key Directory.
//! - [`NetworkConfiguration`]: the user's configuration.

mod answer;
mod configuration;
mod directory;
mod published;
mod refreshing;
mod request;
mod source;

pub use answer::{Answer, RequestedCertificates, Taken, is_asked_for, take, taken_options, wanted};
pub use configuration::{DnsConfiguration, NetworkConfiguration, UnknownRecipients};
pub use directory::{DirectoryLayout, DirectoryOptions, WrittenKey, write_directory};
pub use published::{Published, publish};
pub use refreshing::{RefreshEvent, RefreshOptions, RefreshSummary, Refreshed, refresh};
pub use request::Request;
pub use source::{FetchOutcome, FetchSource, fetch};
