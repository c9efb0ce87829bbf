//! `keyhoard bench`: measures real programs with tiny data; its report is opened in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use harness::{Gnupg, Home, Output, Run};
use serde_json::Value;

/// What is looked for in the page, by the browser itself. The script's findings become the page's title.
const INSPECTION: &str = r#"
<script>
const found = [];
addEventListener('error', event => found.push('script: ' + event.message));
addEventListener('load', () => {
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const boxes = nodes => [...nodes].map(node => node.getBoundingClientRect());
  const plots = [...document.querySelectorAll('svg')];
  for (const plot of plots) {
    const name = plot.getAttribute('aria-label');
    const marks = boxes(plot.querySelectorAll('.mark'));
    if (marks.length === 0 || marks.length !== Number(plot.dataset.marks)) found.push(name + ': marks');
    if (marks.some(mark => mark.width === 0 || mark.height === 0)) found.push(name + ': an empty mark');
    const frame = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll('text')];
    for (const [number, text] of texts.entries()) {
      const box = text.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        found.push(name + ': outside: ' + text.textContent);
      for (const other of texts.slice(number + 1))
        if (overlap(box, other.getBoundingClientRect())) found.push(name + ': ' + text.textContent + ' over ' + other.textContent);
    }
  }
  for (const details of document.querySelectorAll('details')) details.open = true;
  const blocks = boxes(document.querySelectorAll('h1, h2, h3, p, ul, figure, .table, summary'));
  blocks.forEach((one, number) => blocks.slice(number + 1).forEach(other => {
    if (overlap(one, other)) found.push('two blocks overlap at ' + Math.round(other.top));
  }));
  for (const node of document.querySelectorAll('body *'))
    if (!node.closest('.table, svg') && node.getBoundingClientRect().right > innerWidth + 1) found.push('too wide: ' + node.tagName);
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page moves sideways');
  const title = JSON.stringify({ width: innerWidth, plots: plots.length, found });
  document.title = title;
});
</script>
"#;

/// Opens a report in the browser, in a window of a width, and asserts that everything in it is right.
#[track_caller]
fn assert_right_in_browser(report: &Path, width: u64, plots: u64) {
    let html = fs::read_to_string(report).expect("a report");
    assert!(
        !html.contains("http:") && !html.contains("https:") && !html.contains("src="),
        "it needs no network"
    );
    let page = report.with_file_name(format!("inspected-{width}.html"));
    fs::write(&page, html.replace("<style>", &format!("{INSPECTION}<style>"))).expect("a copy");
    let mut browser = Command::new("chromium-headless-shell");
    browser.args(["--no-sandbox", "--disable-gpu", "--dump-dom", &format!("--window-size={width},900")]);
    browser.arg(format!("--user-data-dir={}", report.with_file_name("browser").display()));
    let output =
        browser.arg(format!("file://{}", page.display())).output().expect("a browser (scripts/setup test)");
    let document = String::from_utf8_lossy(&output.stdout);
    let title = document.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    let title = title.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let said: Value = serde_json::from_str(title).expect("what the inspection says");
    assert_eq!(said, serde_json::json!({ "width": width, "plots": plots, "found": [] }));
}

fn out(home: &Home) -> PathBuf {
    home.path().join("out")
}

fn bench(home: &Home, arguments: &[&str]) -> Run {
    Run::keyhoard(home).arg("bench").args(arguments).arg("--out").arg(out(home))
}

fn file(home: &Home, name: &str) -> String {
    let path = out(home).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn results(home: &Home) -> Value {
    serde_json::from_str(&file(home, "results.json")).expect("JSON")
}

/// Returns what JSON says of a program's work.
fn cell(home: &Home, work: &str, subject: &str) -> Value {
    let results = results(home);
    let rows = results["results"][0]["rows"].as_array().expect("rows").clone();
    let row = rows.into_iter().find(|row| row["work"] == work).expect("the work");
    let cells = row["cells"].as_array().expect("cells").clone();
    cells.into_iter().find(|cell| cell["subject"] == subject).expect("the program")
}

/// Asserts that a program has done everything for which it has a command.
#[track_caller]
fn assert_nothing_is_refused(home: &Home, subject: &str) {
    let mut measured = 0;
    for row in results(home)["results"][0]["rows"].as_array().expect("rows") {
        let cells = row["cells"].as_array().expect("cells");
        for cell in cells.iter().filter(|cell| cell["subject"] == subject) {
            assert!(cell["refused"].is_null(), "{}: {}", row["work"], cell["refused"]);
            measured += usize::from(cell["measured"].is_object());
        }
    }
    assert!(measured > 0, "{subject} was not measured");
}

fn made_keyring(home: &Home, certificates: u64) -> String {
    let path = home.path().join("made.pgp");
    Run::lab(home).args(["make-keyring", &certificates.to_string(), "--output"]).arg(&path).succeed();
    path.display().to_string()
}

#[test]
fn programs_import_and_list_a_keyring_and_the_report_is_right_in_a_browser() {
    let home = Home::new();
    let keyring = made_keyring(&home, 4);
    let programs = "gpg keybox,gpg 1.4,keyhoard,gpg-keyhoard,sq,rnp";
    let done = bench(&home, &["keyring", &keyring, "--rounds", "2", "--only", programs]).succeed();
    assert!(done.text().starts_with("Key database: The import takes from "), "{}", done.text());

    // sq of this age has no database.
    for program in ["gpg keybox", "keyhoard", "gpg-keyhoard", "rnp"] {
        let import = &cell(&home, "import", program)["measured"];
        assert_eq!(import["keys"], 4, "{program}");
        assert!(import["wall"].as_f64() > Some(0.0) && import["walls"].as_array().map(Vec::len) == Some(2));
    }
    assert_nothing_is_refused(&home, "keyhoard");
    assert_nothing_is_refused(&home, "gpg-keyhoard");
    // What a program cannot do is told in its own words, never as a number.
    let refused = cell(&home, "first TOFU listing", "rnp");
    assert_eq!(refused["refused"], "rnpkeys: unrecognized option '--trust-model'");
    // gpg 1.4 knows no Ed25519.
    for work in ["import", "import again", "list keys"] {
        assert_eq!(cell(&home, work, "gpg 1.4")["refused"], "it imported no certificate", "{work}");
    }
    let calls = results(&home)["results"][0]["calls"].as_array().expect("calls").clone();
    let import = calls.iter().find(|calls| calls["work"] == "import" && calls["subject"] == "keyhoard");
    assert!(import.expect("system calls")["kinds"]["sync"].as_u64() > Some(0));

    let lines = file(&home, "runs.csv").lines().count();
    assert!(lines > 1 + 3 * 5, "{lines} lines");
    let report = out(&home).join("report.html");
    // Ten works, each with its time, ratios and memory.
    assert_right_in_browser(&report, 360, 30);
    assert_right_in_browser(&report, 1400, 30);
}

#[test]
fn what_takes_longer_than_the_limit_runs_once_and_counts() {
    let home = Home::new();
    let keyring = made_keyring(&home, 4);
    let once = |limit| ["keyring", &keyring, "--rounds", "2", "--once-over", limit, "--only", "gpg-keyhoard"];
    bench(&home, &once("0")).succeed();
    for work in ["import", "import again", "list keys", "check signatures again", "second TOFU listing"] {
        let walls = &cell(&home, work, "gpg-keyhoard")["measured"]["walls"];
        assert_eq!(walls.as_array().map(Vec::len), Some(1), "{work}");
    }
    assert_eq!(results(&home)["results"][0]["calls"].as_array().map(Vec::len), Some(0));

    std::fs::remove_dir_all(out(&home)).expect("it was made");
    bench(&home, &once("1000")).succeed();
    assert_eq!(cell(&home, "import", "gpg-keyhoard")["measured"]["walls"].as_array().map(Vec::len), Some(2));
}

#[test]
fn every_cipher_is_measured_and_its_output_compared() {
    let home = Home::new();
    let arguments = ["symmetric", "--size", "64K", "--rounds", "1", "--only", "gpg keybox,keyhoard"];
    let done = bench(&home, &arguments).succeed();
    assert!(done.text().contains("a backup of 100.0 GB takes"), "{}", done.text());
    for work in ["encrypt, CAMELLIA192", "decrypt, TWOFISH", "decrypt, AES256 with ZLIB, text"] {
        for program in ["gpg keybox", "keyhoard"] {
            assert!(cell(&home, work, program)["measured"]["wall"].as_f64() > Some(0.0), "{work}: {program}");
        }
    }
    assert_nothing_is_refused(&home, "keyhoard");
    assert!(cell(&home, "encrypt, AES256 GCM", "gpg keybox")["refused"].is_string());
}

#[test]
fn growing_keyrings_are_drawn_as_lines() {
    let home = Home::new();
    bench(&home, &["scale", "--sizes", "3,30", "--rounds", "1", "--only", "gpg-keyhoard,rnp"]).succeed();
    assert!(cell(&home, "import, 30 certificates", "rnp")["measured"]["bytes"].as_u64() > Some(1000));
    assert_right_in_browser(&out(&home).join("report.html"), 360, 4);
}

#[test]
fn tasks_that_would_take_too_long_are_left_out() {
    let home = Home::new();
    let arguments =
        ["scale", "--sizes", "2,200000", "--limit", "1", "--rounds", "1", "--only", "gpg-keyhoard"];
    bench(&home, &arguments).succeed();
    let refused = cell(&home, "import, 200000 certificates", "gpg-keyhoard")["refused"].clone();
    assert!(refused.as_str().expect("a reason").starts_with("not measured: "), "{refused}");

    // One that takes longer than was expected is ended.
    std::fs::remove_dir_all(out(&home)).expect("it was made");
    let ended =
        ["scale", "--sizes", "2000,20000", "--limit", "0.001", "--rounds", "1", "--only", "gpg-keyhoard"];
    bench(&home, &ended).succeed();
    let refused = |certificates: u32| {
        cell(&home, &format!("import, {certificates} certificates"), "gpg-keyhoard")["refused"].clone()
    };
    assert!(refused(2000).as_str().expect("a reason").starts_with("not measured: it was ended after "));
    assert_eq!(refused(20_000), "not measured: a smaller keyring would have taken too long");
}

#[test]
fn either_form_of_a_tofu_database_is_written_by_four_at_once() {
    let home = Home::new();
    let keyring = made_keyring(&home, 2);
    let only = "one database,one file per binding,gpg-keyhoard";
    bench(&home, &["tofu", &keyring, "--bindings", "3", "--rounds", "1", "--only", only]).succeed();
    for work in ["write bindings, processes: 1", "write bindings, processes: 4"] {
        let split = cell(&home, work, "one file per binding")["measured"]["bytes"].as_u64();
        assert!(split > cell(&home, work, "one database")["measured"]["bytes"].as_u64(), "{work}");
    }
    assert!(cell(&home, "first TOFU listing, processes: 4", "gpg-keyhoard")["measured"].is_object());
}

/// A grid in which all keys are there but two.
fn nearly_whole_grid(home: &Home) -> String {
    let mut text = "duration,hash,cipher,compAlgo,compLevel,rsa\n".to_owned();
    let mut number = 0_u64;
    for hash in ["SHA224", "SHA256", "SHA384", "SHA512"] {
        for cipher in ["3DES", "CAST5", "AES128", "AES192", "AES256"] {
            for algorithm in ["None", "ZIP", "ZLIB"] {
                for level in ["NoCompression", "BestSpeed", "BestCompression", "DefaultCompression"] {
                    for (size, duration) in [(2048, 100_000_000), (4096, 900_000_000)] {
                        number += 1;
                        let duration = duration + number * 7919 % 50_000_000;
                        if size == 4096 || number > 4 {
                            text.push_str(&format!(
                                "{duration},{hash},{cipher},{algorithm},{level},{size}\n"
                            ));
                        }
                    }
                }
            }
        }
    }
    fs::create_dir_all(out(home)).expect("a directory");
    fs::write(out(home).join("grid.csv"), &text).expect("a file");
    text
}

#[test]
fn an_interrupted_grid_of_keys_is_resumed_and_separates_size_from_preferences() {
    let home = Home::new();
    let before = nearly_whole_grid(&home);
    assert_eq!(before.lines().count(), 1 + 478);
    let arguments =
        ["keygen", "--resume", "--keys", "1", "--grid-keys", "1", "--only", "gpg-keyhoard,keyhoard,openssl"];
    let done = bench(&home, &arguments).succeed();
    let grid = file(&home, "grid.csv");
    assert!(grid.starts_with(&before) && grid.lines().count() == 1 + 480, "{} lines", grid.lines().count());
    let said = done.text();
    assert!(
        said.contains("cannot matter: hash 0.") && said.contains("Over all combinations a key of 4096 bits"),
        "{said}"
    );
    assert!(cell(&home, "new key, rsa3072", "openssl")["measured"].is_object());
    assert_nothing_is_refused(&home, "keyhoard");
    // Four algorithms with time and memory, five factors.
    assert_right_in_browser(&out(&home).join("report.html"), 360, 4 + 5 + 4);
}

#[test]
fn an_interrupt_keeps_the_measurements_and_resume_continues_them() {
    let home = Home::new();
    let keyring = made_keyring(&home, 60);
    let only = ["--only", "gpg keybox,keyhoard"];
    let run = |more: &[&str]| {
        bench(&home, &[&["keyring", &keyring, "--no-strace", "--rounds", "2"], &only[..], more].concat())
    };
    let mut child = run(&[]).spawn();
    let begun = Instant::now();
    let runs = || fs::read_to_string(out(&home).join("runs.csv")).unwrap_or_default();
    while runs().lines().count() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was measured");
        sleep(Duration::from_millis(5));
    }
    let interrupt = Command::new("sh").args(["-c", "kill -INT $0", &child.id().to_string()]).status();
    assert!(interrupt.expect("kill").success());
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    let before = runs();
    assert!(file(&home, "report.html").contains("stopped before everything was measured"));
    assert_eq!(results(&home)["report"]["interrupted"], true);

    let refused = run(&[]).output();
    assert!(refused.code != Some(0) && refused.errors().contains("--resume"), "{}", refused.errors());
    let other = bench(&home, &["keyring", "--resume"]).output();
    assert!(other.errors().contains("holds another experiment"), "{}", other.errors());
    run(&["--resume"]).succeed();
    assert!(runs().starts_with(&before), "what was measured is still there");
    assert_eq!(results(&home)["report"]["interrupted"], false);
    assert_eq!(
        cell(&home, "second TOFU listing", "keyhoard")["measured"]["walls"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn a_program_that_a_file_describes_is_measured_too() {
    let home = Home::new();
    let keyring = made_keyring(&home, 2);
    let path = home.path().join("mine.toml");
    let text = "[[program]]\nname = 'mine'\nlike = 'gpg-keyhoard'\n[program.actions]\n\
                list-sigs = { run = ['sh', '-c', 'echo mine: no such listing >&2; exit 9'] }\n";
    fs::write(&path, text).expect("a file");
    let path = path.display().to_string();
    let arguments =
        ["keyring", &keyring, "--rounds", "1", "--no-strace", "--programs", &path, "--only", "mine"];
    bench(&home, &arguments).succeed();
    assert_eq!(cell(&home, "import", "mine")["measured"]["keys"], 2);
    assert_eq!(cell(&home, "list signatures with names", "mine")["refused"], "mine: no such listing");
}

#[test]
fn what_is_unpacked_in_a_folder_of_roots_is_measured_too_with_a_keybox_and_with_keyboxd() {
    let home = Home::new();
    let keyring = made_keyring(&home, 2);
    let roots = Gnupg::V2_4.programs().ancestors().nth(2).expect("roots").display().to_string();
    let only = "gpg keybox,gpg keyboxd";
    bench(&home, &["keyring", &keyring, "--rounds", "1", "--no-strace", "--roots", &roots, "--only", only])
        .succeed();
    for program in ["gpg keybox", "gpg keybox (2.2.40)", "gpg keybox (2.4.9)", "gpg keyboxd (2.4.9)"] {
        assert_eq!(cell(&home, "import", program)["measured"]["keys"], 2, "{program}");
    }
    let versions = results(&home)["report"]["programs"].clone();
    let version = versions.as_array().expect("programs").iter();
    let version = version.filter(|program| program["name"].as_str().expect("a name").ends_with("(2.4.9)"));
    assert!(version.clone().count() == 2, "{versions}");
    assert!(version.into_iter().all(|one| one["version"] == "gpg (GnuPG) 2.4.9"), "{versions}");
}

#[test]
fn keyhoard_bench_prints_the_help_of_keyhoard_lab() {
    let home = Home::new();
    let Output { stdout, .. } = Run::keyhoard(&home).args(["bench", "--help"]).succeed();
    let help = String::from_utf8_lossy(&stdout).into_owned();
    for experiment in ["keyring", "tofu", "keygen", "symmetric", "scale"] {
        assert!(help.contains(experiment), "{help}");
    }
}
