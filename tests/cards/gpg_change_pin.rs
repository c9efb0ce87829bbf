//! `--change-pin` beside the real gpg.

use harness::{CardHome, Gnupg};

#[test]
fn in_batch_mode_nothing_is_changed() {
    let home = CardHome::new();
    let words = ["--status-fd", "2", "--change-pin"];
    let [gpg, ours] =
        [home.gpg(Gnupg::V2_4), home.gpg_keyhoard(Gnupg::V2_4)].map(|run| run.args(words).output());
    assert_eq!(gpg.status_lines(), ours.status_lines());
    assert_eq!((gpg.code, ours.code), (Some(2), Some(2)));
    assert_eq!(home.questions(), "");
}
