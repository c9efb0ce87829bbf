//! What the library says of keys and user IDs, in the model's words.

use cert::effective::{self, Usage};

use crate::model::{KeyState, UserState};
use crate::signature;

impl From<&effective::KeyState> for KeyState {
    fn from(state: &effective::KeyState) -> Self {
        let may = |usage| state.usage.contains(usage);
        Self {
            valid: state.valid,
            revoked: state.revoked.is_some(),
            expires: state.expires.map(|end| end.0),
            expired: state.expired,
            usage: signature::Usage {
                certify: may(Usage::CERTIFY),
                sign: may(Usage::SIGN),
                encrypt: may(Usage::ENCRYPT),
                authenticate: may(Usage::AUTHENTICATE),
            },
        }
    }
}

impl From<&effective::UserIdState> for UserState {
    fn from(state: &effective::UserIdState) -> Self {
        Self { bound: state.created.is_some(), revoked: state.revoked, expired: state.expired }
    }
}
