//! Rows on their way into a table, in the binary form of `COPY` (PostgreSQL 15's manual, page on COPY).

use bytes::{BufMut, Bytes, BytesMut};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Rows are sent in parts of about this size.
const PART: usize = 256 << 10;

/// A value of a row.
pub(super) enum Value<'a> {
    Null,
    Small(i16),
    Integer(i32),
    Long(i64),
    Bytes(&'a [u8]),
}

/// Encoded rows.
#[derive(Default)]
pub(super) struct Encoded {
    parts: Vec<Bytes>,
    current: BytesMut,
}

impl Encoded {
    /// Adds a row.
    pub(super) fn push(&mut self, values: &[Value<'_>]) {
        if self.is_empty() {
            self.current.put_slice(SIGNATURE);
            self.current.put_i32(0);
            self.current.put_i32(0);
        }
        self.current.put_i16(values.len() as i16);
        for value in values {
            match value {
                Value::Null => self.current.put_i32(-1),
                Value::Small(value) => {
                    self.current.put_i32(2);
                    self.current.put_i16(*value);
                }
                Value::Integer(value) => {
                    self.current.put_i32(4);
                    self.current.put_i32(*value);
                }
                Value::Long(value) => {
                    self.current.put_i32(8);
                    self.current.put_i64(*value);
                }
                Value::Bytes(bytes) => {
                    self.current.put_i32(bytes.len() as i32);
                    self.current.put_slice(bytes);
                }
            }
        }
        if self.current.len() >= PART {
            self.parts.push(self.current.split().freeze());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.current.is_empty()
    }

    /// Ends the rows.
    pub(super) fn finish(mut self) -> Vec<Bytes> {
        self.current.put_i16(-1);
        self.parts.push(self.current.freeze());
        self.parts
    }
}
