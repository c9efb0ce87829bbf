//! The commands for smartcards, with a virtual card beside the real gpg: one file per command. `make test-cards` runs them.

mod gpg_card_keys;
mod gpg_card_status;
mod gpg_change_pin;
mod gpg_edit_card;
mod gpg_generate_on_card;
mod gpg_key_to_card;
mod harness_leftovers;
