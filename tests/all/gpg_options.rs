//! The options of `gpg-keyhoard` are gpg's: names, abbreviations, arguments, configuration files, exit codes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use harness::{Both, Gnupg, Home, Output, Run, assert_same};

/// A command that does nothing but print, so that options are all there is to compare.
const LIST_CONFIG: [&str; 2] = ["--with-colons", "--list-config"];

/// gpg's flag of a title in its option table.
const HEADER: u32 = 1 << 9;

#[test]
fn gpg_without_a_home_variable_takes_the_home_directory_that_the_system_knows() {
    let [gpg, keyhoard] = [Gnupg::V2_2.program("gpg"), Run::program_path("gpg-keyhoard")].map(|program| {
        let mut command = Command::new(program);
        let output = command.env_clear().env("PATH", "/usr/bin:/bin").arg("--version").output();
        String::from_utf8(output.expect("it runs").stdout).expect("ASCII")
    });
    let line = |text: &str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        value.unwrap_or_else(|| panic!("{text}"))
    };
    let home = line(&gpg, "Home: ");
    assert_eq!(line(&keyhoard, "Home: "), home);
    let data = home.strip_suffix(".gnupg").expect("GnuPG's default").to_owned()
        + ".local/share/keyhoard/keyhoard.db";
    assert_eq!(line(&keyhoard, "Database: "), data);
}

#[test]
fn gpg_options_have_gpgs_names_arguments_and_synonyms() {
    let [gpg, keyhoard] = both_tables(Gnupg::V2_2);
    let names = |table: &Table| table.keys().cloned().collect::<BTreeSet<String>>();
    assert_eq!(names(&gpg), names(&keyhoard));
    for (name, (_, flags)) in &gpg {
        assert_eq!(keyhoard[name].1, *flags, "argument and kind of --{name}");
    }
    assert_eq!(synonyms(&gpg), synonyms(&keyhoard));
    let short = |table: &Table| -> BTreeMap<String, u32> {
        let short = table.iter().filter(|(_, (number, _))| *number < 256);
        short.map(|(name, (number, _))| (name.clone(), *number)).collect()
    };
    let mut ours = short(&keyhoard);
    // gpg has it outside its table.
    ours.remove("help");
    assert_eq!(short(&gpg), ours);
}

/// An option's number, which its synonyms share, and its flags.
type Table = BTreeMap<String, (u32, u32)>;

#[test]
fn gpg_options_of_2_4_are_all_there_with_their_arguments() {
    let [gpg, keyhoard] = both_tables(Gnupg::V2_4);
    let missing: Vec<_> = gpg.keys().filter(|name| !keyhoard.contains_key(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (name, (_, flags)) in &gpg {
        assert_eq!(keyhoard[name].1, *flags, "argument and kind of --{name}");
    }
    let options = |run: Run| run.arg("--dump-options").succeed().text();
    let home = Home::new();
    let ours = options(Run::gpg_keyhoard(&home).like(Gnupg::V2_4));
    let ours: BTreeSet<&str> = ours.lines().collect();
    let theirs = options(Run::gpg_of(Gnupg::V2_4, &home));
    // The headings of groups of options begin with a capital letter.
    let is_option = |name: &&str| !name[2..].starts_with(|first: char| first.is_ascii_uppercase());
    let missing: Vec<_> = theirs.lines().filter(is_option).filter(|name| !ours.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// gpgconf, and with it Kleopatra, shows options by these headings.
#[test]
fn options_that_gpgconf_shows_stand_below_the_headings_that_gpg_has_them_below() {
    for gnupg in Gnupg::ALL {
        let home = Home::new();
        let [gpg, keyhoard] = [Run::gpg_of(gnupg, &home), Run::gpg_keyhoard(&home).like(gnupg)].map(|run| {
            let text = run.arg("--dump-option-table").succeed().text();
            let (mut headings, mut of_option) = (Vec::new(), BTreeMap::new());
            for line in text.lines() {
                let fields: Vec<&str> = line.split(':').collect();
                match fields[2].parse::<u32>() {
                    Ok(flags) if flags & HEADER != 0 => headings.push(line.to_owned()),
                    _ => drop(of_option.insert(fields[0].to_owned(), headings.last().cloned())),
                }
            }
            (headings, of_option)
        });
        assert_eq!(keyhoard.0, gpg.0);
        let shown: Vec<_> = keyhoard.1.iter().filter(|(_, heading)| heading.is_some()).collect();
        assert!(shown.len() > 20, "{shown:?}");
        for (name, heading) in shown {
            assert_eq!(gpg.1[name], *heading, "--{name}");
        }
    }
}

fn both_tables(gnupg: Gnupg) -> [Table; 2] {
    let home = Home::new();
    [Run::gpg_of(gnupg, &home), Run::gpg_keyhoard(&home).like(gnupg)].map(|run| {
        let text = run.arg("--dump-option-table").succeed().text();
        let row = |line: &str| {
            let mut fields = line.split(':');
            let mut next = || fields.next().expect("name, number and flags");
            let (name, number, flags) = (next().to_owned(), next(), next());
            (name, (number.parse().expect("a number"), flags.parse().expect("a number")))
        };
        text.lines().map(row).filter(|(_, (_, flags))| flags & HEADER == 0).collect()
    })
}

fn synonyms(table: &Table) -> BTreeSet<BTreeSet<String>> {
    let mut groups: BTreeMap<(u32, u32), BTreeSet<String>> = BTreeMap::new();
    for (name, key) in table {
        groups.entry(*key).or_default().insert(name.clone());
    }
    groups.into_values().collect()
}

#[test]
fn gpg_options_are_read_as_gpg_reads_them() {
    let both = Both::new();
    let lines: [&[&str]; 40] = [
        &["--armor=value-is-ignored"],
        &["--output="],
        &["--output", ""],
        &["--bogus"],
        &["--bogus", "--version"],
        &["--list"],
        &["--fast"],
        &["--no-force"],
        &["--strict"],
        &["--load-extension", "x"],
        &["-az"],
        &["-aqvz6"],
        &["-j"],
        &["--passphrase"],
        &["--status-fd", "99999999999"],
        &["--status-fd", "77"],
        &["--max-output", "0x10"],
        &["--set-filesize", "-3"],
        &["--options", "/nonexistent"],
        &["--no-options", "--options", "/nonexistent"],
        &["--sign"],
        &["--keyid-format", "foo"],
        &["--keyid-format", "0xLONG"],
        &["--trust-model", "foo"],
        &["--cipher-algo", "foo"],
        &["--cipher-algo", "s9"],
        &["--digest-algo", "foo"],
        &["--compress-algo", "2"],
        &["--personal-cipher-preferences", "AES256 foo"],
        &["--default-preference-list", "SHA512 AES256 ZLIB no-mdc"],
        &["--s2k-mode", "7"],
        &["--min-cert-level", "5"],
        &["--import-options", "foo"],
        &["--import-options", "import-c"],
        &["--list-options", "show-photos,no-show-uid"],
        &["--import-filter", "foo=uid = x"],
        &["--export-filter", "keep-uid=uid"],
        &["--compliance", "foo"],
        &["--tofu-default-policy", "foo"],
        &["--print-pka-records"],
    ];
    for line in lines {
        // 2.4 does not know the last one.
        if line[0] == "--print-pka-records" && Gnupg::usual() == Gnupg::V2_4 {
            continue;
        }
        both.assert_same_status([line, &LIST_CONFIG].concat());
    }
}

#[test]
fn the_words_of_list_options_are_those_that_gpg_names() {
    let words = |done: &Output| -> BTreeSet<String> {
        done.text().lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    for option in ["import", "export", "list", "verify", "keyserver"] {
        let option = format!("--{option}-options");
        let [old, new] = Gnupg::ALL.map(|gnupg| Both::new().with(gnupg).run([option.as_str(), "help"]));
        assert_eq!(words(&new[0]), words(&new[1]), "{option} of 2.4.9");
        assert!(words(&new[0]).len() > 3 && new.iter().all(|done| done.code == Some(0)), "{option}");
        for word in words(&old[0]) {
            let both = Both::new().with(Gnupg::V2_2);
            both.assert_same_output(
                [&option, &word, "--with-colons", "--list-config", "version"].map(str::to_owned),
            );
        }
    }
}

#[test]
fn unknown_debug_and_compatibility_flags_are_told_and_ignored() {
    let both = Both::new().with(Gnupg::V2_4);
    let messages = |done: &Output| {
        // gpg also tells which flags it knows, and what they bring to light.
        let is_own = |line: &&str| ["available", "ignored", ":  "].iter().any(|part| line.contains(part));
        done.errors().lines().filter(is_own).map(str::to_owned).collect::<Vec<_>>()
    };
    for (option, flags) in [
        ("--debug", "help"),
        ("--debug", "foo,ipc"),
        ("--debug", "none"),
        ("--compatibility-flags", "help"),
        ("--compatibility-flags", "foo,compr-keys,bar"),
        ("--compatibility-flags", "vsd-allow-ocb"),
    ] {
        let line = [option, flags, "--with-colons", "--list-config", "version"];
        both.assert_same_status(line);
        let [gpg, keyhoard] = both.run(line).map(|done| messages(&done));
        assert_eq!(gpg, keyhoard, "{option} {flags}");
    }
}

#[test]
fn gpg_preference_lists_are_examined_item_by_item() {
    let both = Both::new();
    let lists = [
        "AES256 foo",
        "AES256 AES256",
        "foo H8 h8 bar",
        "Z1,Z9 uncompressed",
        "AES256  AES",
        "AES256 2",
        "AES256 none",
        "AES AES128",
        "md5 SHA1 RMD160 H2",
        "mdc no-mdc ks-modify Zlib",
        "default",
        "none",
        "default AES",
    ];
    let same = |line: &[&str]| {
        both.assert_same_status([line, &LIST_CONFIG].concat());
        // When the time is told does not matter here.
        let told = |done: &Output| {
            let errors = done.errors();
            errors
                .split_inclusive('\n')
                .filter(|line| !line.contains("faked system time"))
                .collect::<String>()
        };
        let [gpg, keyhoard] = both.run([line, &LIST_CONFIG].concat());
        assert_same(&line.join(" "), told(&gpg).as_bytes(), told(&keyhoard).as_bytes());
    };
    let sorts = ["personal-cipher-prefs", "personal-digest-preferences", "personal-compress-prefs"];
    for (number, list) in lists.into_iter().enumerate() {
        same(&[&format!("--{}", sorts[number % sorts.len()]), list]);
    }
    for list in ["AES256 foo", "default", "none"] {
        same(&["--default-preference-list", list]);
    }
    same(&["--personal-compress-prefs", "Z9", "--personal-cipher-prefs", "S9 S9", "--s2k-mode", "7"]);
    // The last list counts.
    same(&["--personal-cipher-prefs", "foo", "--personal-cipher-prefs", "AES"]);
}

#[test]
fn gpg_arguments_begin_with_the_first_word_that_is_no_option() {
    let both = Both::new();
    for line in [
        &["--with-colons", "--list-config", "version", "--foo"][..],
        &["--with-colons", "--list-config", "--", "--foo"],
        &["--with-colons", "--list-config", "-", "-h"],
        &["--with-colons", "--list-config", "VERSION", "hash", "curveoid"],
        &["--with-colons", "--list-config", "cipher digestname"],
        &["--list-config", "version"],
    ] {
        both.assert_same_status(line);
    }
}

#[test]
fn gpg_list_config_and_gpgconf_list_print_what_gpg_prints() {
    let both = Both::new();
    both.assert_same_output(LIST_CONFIG);
    both.assert_same_output([
        "--group",
        "a = b:c  d",
        "--group",
        "A=e;f",
        "--group",
        "x=y",
        "--with-colons",
        "--list-config",
    ]);
    both.assert_same_output(["--gpgconf-list"]);
    both.assert_same_output(["--gpgconf-test"]);
    both.assert_same_status(["--s2k-mode", "4", "--gpgconf-test"]);
    both.assert_same_output(["--import-options", "show-only", "--gpgconf-test"]);
}

#[test]
fn gpg_conf_is_read_as_gpg_reads_it() {
    for conf in [
        "group a=b\n  group \"c = d  e\"  \n# group x=y\ngroup f=g # not a comment\n",
        "\u{feff}group a=b\r\ngroup c=d",
        "bogus\ngrou a=b\n--group a=b\ngroup\nbatch yes\ngroup c=d\n",
        "status-fd 99999999999\nload-extension x\nstrict\nversion\ngroup a=b\n",
        "ignore-invalid-option foo bar\nfoo x\nbar\ngroup a=b\n",
        "[verbose]\n[bogus]\n[force]\n[\n[]\ngroup a=b\n",
        "keyid-format bogus\n",
        "import-options bogus\n",
        "group no-equals-sign\n",
        "list-keys\n",
        "no-use-agent\nshow-photos\nhomedir /nonexistent\noptions /nonexistent\ngroup a=b\n",
    ] {
        let homes = [Home::with_conf(conf), Home::with_conf(conf)];
        let both = Both::in_homes(homes);
        both.assert_same_status(LIST_CONFIG);
    }
}

#[test]
fn gpg_a_configuration_file_for_this_version_comes_before_the_plain_one() {
    let both = Both::in_homes([Home::with_conf("group a=plain\n"), Home::with_conf("group a=plain\n")]);
    let version = Gnupg::usual().version();
    let shorter = &version[.."2.2".len()];
    for (name, expected) in [("2", "2"), (shorter, shorter), (version, version), ("2.3", version)] {
        let name = &format!("gpg.conf-{name}");
        for home in [&both.gpg, &both.keyhoard] {
            home.write(name, format!("group a={}\n", name.trim_start_matches("gpg.conf-")));
        }
        let [gpg, keyhoard] = both.run(["--with-colons", "--list-config", "group"]);
        assert_eq!(keyhoard.text(), format!("cfg:group:a:{expected}\n"));
        assert_eq!(gpg.text(), keyhoard.text());
    }
}

#[test]
fn gpg_another_options_file_replaces_the_usual_one() {
    let both = Both::in_homes([Home::with_conf("group a=usual\n"), Home::with_conf("group a=usual\n")]);
    let other = both.gpg.write("other", "group a=other\n");
    both.assert_same_output([
        "--options".as_ref(),
        other.as_os_str(),
        "--with-colons".as_ref(),
        "--list-config".as_ref(),
    ]);
    both.assert_same_output(["--no-options", "--with-colons", "--list-config"]);
}

#[test]
fn gpg_the_version_begins_with_the_line_that_programs_read() {
    let home = Home::new();
    let text = Run::gpg_keyhoard(&home).arg("--version").succeed().text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("gpg (GnuPG) {}", Gnupg::usual().version()).as_str()));
    assert!(lines.next().is_some_and(|line| line.starts_with("This is gpg-keyhoard ")), "{text}");
    assert!(text.contains(&format!("\nHome: {}\n", home.path().display())), "{text}");
    for algorithms in ["\nPubkey: RSA, ELG, DSA, ", "\nCipher: IDEA, 3DES, ", "\nHash: SHA1, "] {
        assert!(text.contains(algorithms), "{text}");
    }
}

#[test]
fn gpg_commands_that_do_not_go_together_conflict() {
    let both = Both::new();
    both.assert_same_status(["--list-keys", "--import"]);
    both.assert_same_status(["--verify", "--decrypt"]);
}
