//! `keyhoard trust graph`: on whom the validity of a certificate depends, as a picture.

use harness::{Engine, Home, Output, Run};
use lab::made::Web;

harness::on_both_engines! {
    keyhoard_draws_every_key_on_a_path
    keyhoard_draws_the_nearest_keys_if_there_are_too_many
    keyhoard_draws_one_certificate_at_a_time
}

/// When the web is made for.
const NOW: &str = "20260101T000000!";

const WEB: Web = Web { keys: 30, certifications: 6, introducers: 20, seed: 7 };

fn home(engine: Engine) -> Home {
    let home = engine.home_with_conf("");
    let mut certificates = Vec::new();
    WEB.write(&mut certificates).expect("a vector takes everything");
    Run::gpg_keyhoard(&home).arg("--import").stdin(certificates).output();
    Run::gpg_keyhoard(&home).arg("--import-ownertrust").stdin(WEB.owner_trust()).succeed();
    home
}

fn graph(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).args(["--faked-system-time", NOW, "trust", "graph"]).args(arguments).output()
}

/// Returns the fingerprints in the paths to a key.
fn on_paths(home: &Home, key: &str) -> Vec<String> {
    let explain = ["--faked-system-time", NOW, "trust", "explain", "--json", key];
    let text = Run::keyhoard(home).args(explain).succeed().text();
    let document: serde_json::Value = serde_json::from_str(&text).expect("a JSON document");
    let paths = document["paths"].as_array().expect("a list").iter();
    paths
        .flat_map(|path| path.as_array().expect("a list"))
        .map(|key| key.as_str().expect("text").to_owned())
        .collect()
}

fn keyhoard_draws_every_key_on_a_path(engine: Engine) {
    let home = home(engine);
    let mut drawn = 0;
    for number in 0..WEB.keys {
        let key = WEB.fingerprint(number);
        let svg = graph(&home, &[&key]).text();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        let names = on_paths(&home, &key);
        for name in &names {
            assert!(svg.contains(&format!(">{}</text>", &name[24..])), "{name} is missing in\n{svg}");
        }
        assert!(svg.matches("<polyline ").count() >= names.len().min(1));
        drawn = drawn.max(names.len());
    }
    assert!(drawn > 8, "the web has keys with several paths");
}

fn keyhoard_draws_the_nearest_keys_if_there_are_too_many(engine: Engine) {
    let home = home(engine);
    let boxes = |arguments: &[&str]| graph(&home, arguments).text().matches("<rect ").count();
    let counts = (0..WEB.keys).map(|number| WEB.fingerprint(number)).find_map(|key| {
        let all = boxes(&[&key]);
        (all > 4).then(|| (all, boxes(&["--most", "3", &key]), graph(&home, &["--most", "3", &key]).errors()))
    });
    let (all, few, errors) = counts.expect("a key on which many depend");
    assert_eq!(few, 3);
    assert!(errors.contains(&format!("{} more keys are left out", all - 3)), "{errors}");
}

fn keyhoard_draws_one_certificate_at_a_time(engine: Engine) {
    let home = home(engine);
    let several = graph(&home, &["example.org"]);
    assert_eq!((several.code, several.text().as_str()), (Some(2), ""));
    assert!(several.errors().contains("certificates"), "{}", several.errors());
    assert_eq!(graph(&home, &["nobody@nowhere.example"]).code, Some(1));
}
