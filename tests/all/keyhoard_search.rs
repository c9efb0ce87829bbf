//! `keyhoard search`: every text occurs in a user ID.

use harness::{Engine, Home, Output, OwnKey, Run};

harness::on_both_engines! {
    a_search_finds_certificates_that_contain_all_texts
    nothing_found_is_exit_code_1_and_an_empty_text_an_error
    a_limited_search_reports_how_many_certificates_it_omits
}

fn home(engine: Engine) -> Home {
    let keys = ["Ann Example <ann@example.org>", "Bob Example <bob@example.org>"].map(OwnKey::new);
    let home = engine.home();
    let bytes: Vec<u8> = keys.iter().flat_map(OwnKey::certificate).collect();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes).succeed();
    home
}

fn search(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).args(["search", "--json"]).args(arguments).output()
}

fn a_search_finds_certificates_that_contain_all_texts(engine: Engine) {
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

fn a_limited_search_reports_how_many_certificates_it_omits(engine: Engine) {
    let done = search(&home(engine), &["-n", "1", "example"]);
    assert_eq!(done.text().lines().count(), 1);
    assert!(done.errors().contains("1 more"), "{}", done.errors());
}
