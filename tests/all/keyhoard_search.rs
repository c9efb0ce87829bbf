//! `keyhoard search`: every text occurs in a user ID.

use harness::{Done, Home, OwnKey, Run};

fn home() -> Home {
    let keys = ["Ann Example <ann@example.org>", "Bob Example <bob@example.org>"].map(OwnKey::new);
    let home = Home::new();
    let bytes: Vec<u8> = keys.iter().flat_map(OwnKey::certificate).collect();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes).succeed();
    home
}

fn search(home: &Home, arguments: &[&str]) -> Done {
    Run::keyhoard(home).args(["search", "--json"]).args(arguments).done()
}

#[test]
fn all_texts_have_to_occur() {
    let home = home();
    assert_eq!(search(&home, &["example"]).text().lines().count(), 2);
    let both = search(&home, &["EXAMPLE", "bob@"]);
    assert_eq!(both.text().lines().count(), 1);
    assert!(both.text().contains("Bob Example"), "{}", both.text());
}

#[test]
fn nothing_found_is_exit_code_1_and_an_empty_text_an_error() {
    let home = home();
    assert_eq!(search(&home, &["ann@", "bob@"]).code, Some(1));
    assert_eq!(search(&home, &[""]).code, Some(2));
}

#[test]
fn a_limit_says_what_it_leaves_out() {
    let done = search(&home(), &["-n", "1", "example"]);
    assert_eq!(done.text().lines().count(), 1);
    assert!(done.errors().contains("1 more"), "{}", done.errors());
}
