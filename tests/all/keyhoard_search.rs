//! `keyhoard search`: every text occurs in a user ID.

use harness::{Done, Engine, Home, OwnKey, Run};

harness::on_both_engines! {
    all_texts_have_to_occur
    nothing_found_is_exit_code_1_and_an_empty_text_an_error
    a_limit_says_what_it_leaves_out
}

fn home(engine: Engine) -> Home {
    let keys = ["Ann Example <ann@example.org>", "Bob Example <bob@example.org>"].map(OwnKey::new);
    let home = engine.home();
    let bytes: Vec<u8> = keys.iter().flat_map(OwnKey::certificate).collect();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes).succeed();
    home
}

fn search(home: &Home, arguments: &[&str]) -> Done {
    Run::keyhoard(home).args(["search", "--json"]).args(arguments).done()
}

fn all_texts_have_to_occur(engine: Engine) {
    let home = home(engine);
    assert_eq!(search(&home, &["example"]).text().lines().count(), 2);
    let both = search(&home, &["EXAMPLE", "bob@"]);
    assert_eq!(both.text().lines().count(), 1);
    assert!(both.text().contains("Bob Example"), "{}", both.text());
}

fn nothing_found_is_exit_code_1_and_an_empty_text_an_error(engine: Engine) {
    let home = home(engine);
    assert_eq!(search(&home, &["ann@", "bob@"]).code, Some(1));
    assert_eq!(search(&home, &[""]).code, Some(2));
}

fn a_limit_says_what_it_leaves_out(engine: Engine) {
    let done = search(&home(engine), &["-n", "1", "example"]);
    assert_eq!(done.text().lines().count(), 1);
    assert!(done.errors().contains("1 more"), "{}", done.errors());
}
