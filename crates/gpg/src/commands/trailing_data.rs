//! Data behind a message that are no packet.

use crate::streams::Streams;

/// Reports their first byte, as gpg does where it tries to read a packet.
pub(super) fn report(streams: &mut Streams, byte: u8) {
    streams.error(format_args!("[don't know]: invalid packet (ctb={byte:02x})"));
    streams.status("NODATA 3");
}

/// The first two bytes behind an encrypted message. gpg tries to read a packet after compressed data in it, and again after
/// the encrypted data; each attempt takes one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TrailingData {
    pub(super) first: Option<u8>,
    pub(super) second: Option<u8>,
    /// There are compressed data in the message.
    pub(super) follow_compressed: bool,
}

impl TrailingData {
    /// Reports what gpg finds before the end of the encrypted data.
    pub(super) fn report_before_end(&self, streams: &mut Streams) {
        if let Some(first) = self.first.filter(|_| self.follow_compressed) {
            report(streams, first);
        }
    }

    /// Reports what gpg finds after the end of the encrypted data.
    pub(super) fn report_after_end(&self, streams: &mut Streams) {
        if let Some(byte) = if self.follow_compressed { self.second } else { self.first } {
            report(streams, byte);
        }
    }
}
