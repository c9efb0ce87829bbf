//! `keyhoard sop`: the Stateless OpenPGP interface, alone and with sqop.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness::{Home, Output, Run, SIGNED_TEXT, Victim, detached, signing_keys};

const TEXT: &[u8] = b"- a dash\nand  white space\nthe end\n";

/// A place for files, and the program that works on them.
pub(crate) struct Sop {
    home: Home,
    program: &'static str,
}

impl Sop {
    pub(crate) fn new() -> Sop {
        Sop { home: Home::new(), program: "keyhoard" }
    }

    fn by(program: &'static str) -> Sop {
        Sop { home: Home::new(), program }
    }

    /// Runs a subcommand; arguments that name files of this place become their paths.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &[u8]) -> Output {
        let named = arguments.iter().map(|argument| self.named(argument));
        let run = match self.program {
            "keyhoard" => Run::keyhoard(&self.home).arg("sop"),
            other => Run::new(Path::new(other), self.home.path()),
        };
        run.args(named).stdin(stdin).output()
    }

    fn named(&self, argument: &str) -> PathBuf {
        let (option, name) = argument.split_once('=').map_or(("", argument), |(option, name)| (option, name));
        let path = self.home.path().join(name);
        match (option, path.is_file() || name.ends_with(".out")) {
            (_, false) => argument.into(),
            ("", true) => path,
            (option, true) => format!("{option}={}", path.display()).into(),
        }
    }

    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str], stdin: &[u8]) -> Vec<u8> {
        let done = self.run(arguments, stdin);
        assert_eq!(done.code, Some(0), "{} {arguments:?}: {}", self.program, done.errors());
        done.stdout
    }

    #[track_caller]
    pub(crate) fn fails(&self, code: i32, arguments: &[&str], stdin: &[u8]) {
        let done = self.run(arguments, stdin);
        assert_eq!(done.code, Some(code), "{arguments:?}: {}", done.errors());
        assert!(!done.stderr.is_empty(), "{arguments:?}: it says why");
        assert!(done.stdout.is_empty(), "{arguments:?}: nothing is written");
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.home.write(name, bytes.as_ref());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.home.path().join(name)).expect("it was written")
    }

    /// Makes the key `ann.key` and its certificate `ann.cert`.
    fn with_ann(self, options: &[&str]) -> Sop {
        let key = self.ok(&[&["generate-key"], options, &["Ann <ann@example.org>"]].concat(), b"");
        self.put("ann.key", &key);
        self.put("ann.cert", self.ok(&["extract-cert"], &key));
        self
    }

    fn take(&self, from: &Sop, names: &[&str]) {
        names.iter().for_each(|name| self.put(name, from.get(name)));
    }
}

/// Checks the line for one signature that holds.
#[track_caller]
fn holds(verifications: &[u8], mode: &str) {
    let text = String::from_utf8_lossy(verifications);
    assert_eq!(text.lines().count(), 1, "{text}");
    let fields: Vec<&str> = text.split_whitespace().collect();
    assert!(fields[0].len() == 20 && fields[0].ends_with('Z'), "{text}");
    assert!(fields[1..3].iter().all(|name| matches!(name.len(), 40 | 64)), "{text}");
    assert_eq!(fields[3], mode, "{text}");
    let more: serde_json::Value = serde_json::from_str(fields[4]).expect("JSON");
    assert!(more["signers"][0].as_str().is_some_and(|name| name.ends_with("ann.cert")), "{text}");
}

#[test]
fn sqop_and_keyhoard_sop_read_each_others_output() {
    for (maker, reader) in [("keyhoard", "sqop"), ("sqop", "keyhoard")] {
        let maker = Sop::by(maker).with_ann(&[]);
        let reader = Sop::by(reader);
        reader.take(&maker, &["ann.key", "ann.cert"]);
        for kind in ["--as=binary", "--as=text"] {
            reader.put("letter.sig", maker.ok(&["sign", kind, "ann.key"], TEXT));
            assert!(!reader.ok(&["verify", "letter.sig", "ann.cert"], TEXT).is_empty(), "{kind}");
            assert_eq!(reader.run(&["verify", "letter.sig", "ann.cert"], b"other").code, Some(3));
        }
        for kind in ["--as=binary", "--as=text", "--as=clearsigned"] {
            let message = maker.ok(&["inline-sign", kind, "ann.key"], TEXT);
            let mut read = reader.ok(&["inline-verify", "ann.cert"], &message);
            // Lines of text end as the message has it, or the system.
            read.retain(|byte| *byte != b'\r');
            assert_eq!(read.trim_ascii_end(), TEXT.trim_ascii_end(), "{kind}");
        }
        maker.put("password", "open sesame\n");
        reader.put("password", "open sesame");
        let message =
            maker.ok(&["encrypt", "--sign-with=ann.key", "--with-password=password", "ann.cert"], TEXT);
        assert_eq!(reader.ok(&["decrypt", "ann.key"], &message), TEXT);
        let verify =
            ["decrypt", "--verify-with=ann.cert", "--verify-out=verified.out", "--with-password=password"];
        assert_eq!(reader.ok(&verify, &message), TEXT);
        assert_eq!(reader.get("verified.out").iter().filter(|byte| **byte == b'\n').count(), 1);
    }
}

#[test]
fn clear_text_keeps_its_last_line_end_which_is_signed_in_every_program() {
    let ours = Sop::new().with_ann(&[]);
    let sqop = Sop::by("sqop");
    sqop.take(&ours, &["ann.key", "ann.cert"]);
    for text in [&b"Hello"[..], b"Hello\n", b"Hello\n\n", b"one\n- two", b"\n", b""] {
        let text_shown = text.escape_ascii();
        for maker in [&ours] {
            let message = maker.ok(&["inline-sign", "--as=clearsigned", "ann.key"], text);
            for reader in [&ours, &sqop] {
                let mut read = reader.ok(&["inline-verify", "ann.cert"], &message);
                read.retain(|byte| *byte != b'\r');
                // Earlier versions of sqop return the line end before the signature, too.
                let with_line_end = [text, b"\n"].concat();
                let is_read = read == text || (reader.program == sqop.program && read == with_line_end);
                assert!(is_read, "{text_shown} by {} in {}", maker.program, reader.program);
            }
            let separate = ["inline-detach", "--signatures-out=sigs.out"];
            assert_eq!(ours.ok(&separate, &message), text, "{text_shown} by {}", maker.program);
            for reader in [&ours, &sqop] {
                reader.put("sigs", ours.get("sigs.out"));
                reader.ok(&["verify", "sigs", "ann.cert"], text);
            }
            fs::remove_file(ours.path("sigs.out")).expect("it is there");
        }
    }
}

#[test]
fn signatures_are_made_verified_and_taken_off_with_keys_of_both_versions() {
    for profile in ["--profile=default", "--profile=rfc9580"] {
        let sop = Sop::new().with_ann(&[profile]);
        sop.put("letter.sig", sop.ok(&["sign", "--no-armor", "--micalg-out=micalg.out", "ann.key"], TEXT));
        assert!(String::from_utf8_lossy(&sop.get("micalg.out")).starts_with("pgp-sha"), "{profile}");
        holds(&sop.ok(&["verify", "letter.sig", "ann.cert"], TEXT), "mode:binary");
        sop.put("text.sig", sop.ok(&["sign", "--as=text", "ann.key"], TEXT));
        let mail: Vec<u8> = TEXT.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
        holds(&sop.ok(&["verify", "text.sig", "ann.cert"], &mail), "mode:text");
        for (number, kind) in ["--as=binary", "--as=text", "--as=clearsigned"].iter().enumerate() {
            let message = sop.ok(&["inline-sign", kind, "ann.key"], TEXT);
            let out = format!("--verifications-out=verified{number}.out");
            assert_eq!(sop.ok(&["inline-verify", &out, "ann.cert"], &message), TEXT, "{kind}");
            let mode = if number == 0 { "mode:binary" } else { "mode:text" };
            holds(&sop.get(&format!("verified{number}.out")), mode);
            let signatures = format!("detached{number}.out");
            let data = sop.ok(&["inline-detach", &format!("--signatures-out={signatures}")], &message);
            holds(&sop.ok(&["verify", &signatures, "ann.cert"], &data), mode);
        }
    }
}

#[test]
fn signatures_count_only_in_the_given_period_and_only_for_what_they_are_over() {
    let sop = Sop::new().with_ann(&[]);
    sop.put("letter.sig", sop.ok(&["sign", "ann.key"], TEXT));
    let message = sop.ok(&["inline-sign", "ann.key"], TEXT);
    sop.ok(&["verify", "--not-before=2020-01-01", "--not-after=now", "letter.sig", "ann.cert"], TEXT);
    for option in ["--not-after=2020-01-01T00:00:00Z", "--not-before=2100-01-01"] {
        sop.fails(3, &["verify", option, "letter.sig", "ann.cert"], TEXT);
        sop.fails(3, &["inline-verify", option, "ann.cert"], &message);
    }
    let other = Sop::new().with_ann(&[]);
    sop.put("other.cert", other.get("ann.cert"));
    sop.fails(3, &["verify", "letter.sig", "other.cert"], TEXT);
    sop.fails(3, &["inline-verify", "other.cert"], &message);
}

#[test]
fn messages_are_decrypted_with_keys_passwords_and_session_keys() {
    for profile in ["--profile=default", "--profile=rfc9580"] {
        let sop = Sop::new().with_ann(&[profile]);
        sop.put("password", "open sesame\n");
        let message = sop.ok(
            &[
                "encrypt",
                profile,
                "--as=text",
                "--sign-with=ann.key",
                "--with-password=password",
                "--session-key-out=session.out",
                "ann.cert",
            ],
            TEXT,
        );
        assert!(message.starts_with(b"-----BEGIN PGP MESSAGE-----"));
        for opener in ["ann.key", "--with-password=password", "--with-session-key=session.out"] {
            assert_eq!(sop.ok(&["decrypt", opener], &message), TEXT, "{opener}");
        }
        let verify =
            ["--verify-with=ann.cert", "--verifications-out=verified.out", "--session-key-out=again.out"];
        assert_eq!(sop.ok(&[&["decrypt"], &verify[..], &["ann.key"]].concat(), &message), TEXT);
        holds(&sop.get("verified.out"), "mode:text");
        assert_eq!(sop.get("again.out"), sop.get("session.out"));
        let other = Sop::new().with_ann(&[]);
        sop.put("other.key", other.get("ann.key"));
        sop.fails(29, &["decrypt", "other.key"], &message);
        sop.put("wrong", "open says me");
        sop.fails(29, &["decrypt", "--with-password=wrong"], &message);
        let mut changed = sop.ok(&["dearmor"], &message);
        let middle = changed.len() - 30;
        changed[middle] ^= 1;
        sop.fails(29, &["decrypt", "ann.key"], &changed);
    }
}

#[test]
fn a_message_with_a_bad_signature_is_decrypted_and_the_signature_not_reported() {
    let sop = Sop::new().with_ann(&[]);
    let other = Sop::new().with_ann(&[]);
    sop.put("other.cert", other.get("ann.cert"));
    let message = sop.ok(&["encrypt", "--sign-with=ann.key", "ann.cert"], TEXT);
    let verify = ["decrypt", "--verify-with=other.cert", "--verifications-out=verified.out", "ann.key"];
    assert_eq!(sop.ok(&verify, &message), TEXT);
    assert_eq!(sop.get("verified.out"), b"");
}

#[test]
fn large_messages_are_written_after_their_check() {
    let sop = Sop::new().with_ann(&[]);
    let data: Vec<u8> = (0..30_u32 << 18).flat_map(u32::to_le_bytes).collect();
    let mut message = sop.ok(&["encrypt", "--no-armor", "--profile=rfc4880", "ann.cert"], &data);
    assert!(sop.ok(&["decrypt", "ann.key"], &message) == data);
    *message.last_mut().expect("a message") ^= 1;
    sop.fails(29, &["decrypt", "ann.key"], &message);
}

#[test]
fn key_passwords_are_set_changed_and_removed() {
    let sop = Sop::new();
    sop.put("first", "one\n");
    sop.put("second", "two");
    let sop = sop.with_ann(&["--with-key-password=first"]);
    sop.fails(67, &["sign", "ann.key"], TEXT);
    sop.fails(67, &["sign", "--with-key-password=second", "ann.key"], TEXT);
    sop.ok(&["sign", "--with-key-password=second", "--with-key-password=first", "ann.key"], TEXT);
    let key = sop.get("ann.key");
    sop.fails(67, &["change-key-password", "--new-key-password=second"], &key);
    let change = ["change-key-password", "--old-key-password=first"];
    sop.put("second.key", sop.ok(&[&change[..], &["--new-key-password=second"]].concat(), &key));
    sop.ok(&["sign", "--with-key-password=second", "second.key"], TEXT);
    sop.put("plain.key", sop.ok(&change, &key));
    sop.ok(&["sign", "plain.key"], TEXT);
    assert_eq!(sop.ok(&["extract-cert"], &sop.get("plain.key")), sop.get("ann.cert"));
    sop.put("odd", b" tab\there");
    sop.fails(31, &["change-key-password", "--new-key-password=odd"], &sop.get("plain.key"));
}

#[test]
fn a_revoked_key_is_used_for_nothing_once_its_certificate_was_merged() {
    let sop = Sop::new().with_ann(&[]);
    let (key, certificate) = (sop.get("ann.key"), sop.get("ann.cert"));
    sop.put("letter.sig", sop.ok(&["sign", "ann.key"], TEXT));
    sop.put("revoked.cert", sop.ok(&["revoke-key"], &key));
    sop.put("merged.cert", sop.ok(&["merge-certs", "revoked.cert"], &certificate));
    assert_eq!(sop.get("merged.cert"), sop.get("revoked.cert"));
    sop.fails(17, &["encrypt", "merged.cert"], TEXT);
    sop.fails(3, &["verify", "letter.sig", "merged.cert"], TEXT);
    sop.put("revoked.key", sop.ok(&["update-key", "--merge-certs=revoked.cert"], &key));
    sop.fails(79, &["sign", "revoked.key"], TEXT);
    sop.fails(103, &["update-key"], &sop.get("revoked.key"));
    let other = Sop::new().with_ann(&[]);
    sop.put("other.cert", other.get("ann.cert"));
    assert_eq!(sop.ok(&["merge-certs", "other.cert"], &certificate), certificate, "nobody else is added");
}

#[test]
fn user_ids_certified_by_an_authority_are_valid() {
    let sop = Sop::new().with_ann(&[]);
    let authority = Sop::new().with_ann(&[]);
    sop.put("authority.key", authority.get("ann.key"));
    sop.put("authority.cert", authority.get("ann.cert"));
    let certificate = sop.get("ann.cert");
    let valid = ["validate-userid", "Ann <ann@example.org>", "authority.cert"];
    sop.fails(107, &valid, &certificate);
    let certify = ["certify-userid", "--userid=Ann <ann@example.org>", "authority.key"];
    let certified = sop.ok(&certify, &certificate);
    assert!(sop.ok(&valid, &certified).is_empty());
    sop.ok(&["validate-userid", "--addr-spec-only", "ann@example.org", "authority.cert"], &certified);
    sop.fails(107, &["validate-userid", "ann@example.org", "authority.cert"], &certified);
    sop.fails(107, &["validate-userid", "--addr-spec-only", "eve@example.org", "authority.cert"], &certified);
    sop.fails(107, &["validate-userid", "--validate-at=2020-01-01", valid[1], valid[2]], &certified);
    let unknown = ["certify-userid", "--userid=Eve", "authority.key"];
    sop.fails(107, &unknown, &certificate);
    let without = sop.ok(&[&unknown[..], &["--no-require-self-sig"]].concat(), &certificate);
    assert!(without.len() > certificate.len());
    sop.ok(&["validate-userid", "Eve", "authority.cert"], &without);
    sop.fails(107, &["validate-userid", "Eve", "ann.cert"], &without);
}

#[test]
fn a_key_that_cannot_certify_or_sign_is_refused() {
    let sop = Sop::new().with_ann(&[]);
    sop.put("revoked.cert", sop.ok(&["revoke-key"], &sop.get("ann.key")));
    // The secret keys with the revocation: as another program would have kept it.
    let gnupg = Home::new();
    for name in ["ann.key", "revoked.cert"] {
        Run::gpg_with_agent(&gnupg).at("20300101T000000!").arg("--import").stdin(sop.get(name)).succeed();
    }
    let exported = Run::gpg_with_agent(&gnupg).at("20300101T000000!").arg("--export-secret-keys").succeed();
    sop.put("revoked.key", exported.stdout);
    sop.fails(79, &["sign", "revoked.key"], TEXT);
    sop.fails(
        109,
        &["certify-userid", "--userid=Ann <ann@example.org>", "revoked.key"],
        &sop.get("ann.cert"),
    );
}

#[test]
fn a_key_that_its_designated_revoker_has_revoked_is_neither_encrypted_to_nor_valid() {
    let sop = Sop::new();
    for name in ["karl", "rita"] {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/engine/src/testdata");
        let file = Path::new(directory).join(format!("designated-revoker-{name}.asc"));
        sop.put(&format!("{name}.cert"), fs::read(file).expect("it is there"));
    }
    sop.ok(&["encrypt", "karl.cert"], TEXT);
    sop.fails(17, &["encrypt", "karl.cert", "rita.cert"], TEXT);
    let karl = sop.get("karl.cert");
    let validate = ["validate-userid", "--addr-spec-only", "karl@example.org", "karl.cert"];
    sop.ok(&validate, &karl);
    sop.fails(107, &[&validate[..], &["rita.cert"]].concat(), &karl);
}

#[test]
fn update_key_adds_what_a_new_key_has() {
    let sop = Sop::new().with_ann(&["--signing-only"]);
    sop.fails(17, &["encrypt", "ann.cert"], TEXT);
    let key = sop.get("ann.key");
    for option in ["--signing-only", "--no-added-capabilities"] {
        assert_eq!(sop.ok(&["update-key", option], &key), key, "{option}");
    }
    let updated = sop.ok(&["update-key"], &key);
    sop.put("new.key", &updated);
    sop.put("new.cert", sop.ok(&["extract-cert"], &updated));
    let message = sop.ok(&["encrypt", "new.cert"], TEXT);
    assert_eq!(sop.ok(&["decrypt", "new.key"], &message), TEXT);
    assert_eq!(sop.ok(&["update-key"], &updated), updated, "once is enough");
}

#[test]
fn armor_and_dearmor_convert_and_leave_converted_input_unchanged() {
    let sop = Sop::new().with_ann(&[]);
    let (key, certificate) = (sop.get("ann.key"), sop.get("ann.cert"));
    let signature = sop.ok(&["sign", "ann.key"], TEXT);
    let message = sop.ok(&["encrypt", "ann.cert"], TEXT);
    for armored in [key, certificate, signature, message] {
        let packets = sop.ok(&["dearmor"], &armored);
        assert!(packets[0] & 0x80 != 0);
        assert_eq!(sop.ok(&["dearmor"], &packets), packets);
        assert_eq!(sop.ok(&["armor"], &packets), armored);
        assert_eq!(sop.ok(&["armor"], &armored), armored);
    }
    sop.fails(41, &["armor"], TEXT);
    sop.fails(41, &["dearmor"], TEXT);
}

#[test]
fn each_kind_of_error_has_its_own_exit_code() {
    let sop = Sop::new().with_ann(&[]);
    sop.put("letter.sig", sop.ok(&["sign", "ann.key"], TEXT));
    sop.put("there.out", "");
    let cases: &[(i32, &[&str])] = &[
        (19, &["sign"]),
        (19, &["verify", "letter.sig"]),
        (19, &["encrypt"]),
        (19, &["decrypt"]),
        (19, &["inline-detach"]),
        (23, &["decrypt", "--verify-with=ann.cert", "ann.key"]),
        (23, &["decrypt", "--verifications-out=verified.out", "ann.key"]),
        (37, &["sign", "--unknown", "ann.key"]),
        (37, &["sign", "--as=picture", "ann.key"]),
        (41, &["sign", "ann.cert"]),
        (41, &["encrypt", "ann.key"]),
        (41, &["verify", "ann.cert", "ann.cert"]),
        (41, &["decrypt", "ann.key"]),
        (41, &["extract-cert"]),
        (53, &["sign", "--as=text", "ann.key"]),
        (59, &["encrypt", "--session-key-out=there.out", "ann.cert"]),
        (61, &["encrypt", "nowhere.cert"]),
        (61, &["encrypt", "@ENV:NOWHERE"]),
        (61, &["encrypt", "@FD:77"]),
        (69, &["fly"]),
        (71, &["encrypt", "@HARDWARE:1"]),
        (71, &["encrypt", "--session-key-out=@ENV:OUT", "ann.cert"]),
        (83, &["inline-sign", "--as=clearsigned", "--no-armor", "ann.key"]),
        (83, &["version", "--sopv", "--backend"]),
        (89, &["generate-key", "--profile=unknown", "Ann"]),
        (89, &["encrypt", "--profile=unknown", "ann.cert"]),
        (89, &["list-profiles", "sign"]),
    ];
    for (code, arguments) in cases {
        sop.fails(*code, arguments, b"no text: \xff\xfe");
    }
    sop.put("@ENV:HOME", "");
    let ambiguous = Command::new(Run::program_path("keyhoard"))
        .args(["sop", "encrypt", "@ENV:HOME"])
        .current_dir(sop.home.path())
        .output()
        .expect("it starts");
    assert_eq!(ambiguous.status.code(), Some(73));
}

#[test]
fn files_can_be_environment_variables_and_open_descriptors() {
    let sop = Sop::new().with_ann(&[]);
    let certificate = String::from_utf8(sop.get("ann.cert")).expect("armor");
    let run =
        Run::keyhoard(&sop.home).args(["sop", "encrypt", "@ENV:ANN"]).env("ANN", certificate).stdin(TEXT);
    let message = run.succeed().stdout;
    let key = File::open(sop.home.path().join("ann.key")).expect("it is there");
    sop.put("message", &message);
    let output = Command::new("sh")
        .args(["-c", "exec 5<&0; exec \"$0\" sop decrypt @FD:5 <\"$1\""])
        .arg(Run::program_path("keyhoard"))
        .arg(sop.home.path().join("message"))
        .stdin(Stdio::from(key))
        .output()
        .expect("it starts");
    assert_eq!(output.stdout, TEXT, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn version_and_list_profiles_print_what_the_draft_asks_for() {
    let sop = Sop::new().with_ann(&[]);
    let version =
        |options: &[&str]| String::from_utf8(sop.ok(&[&["version"], options].concat(), b"")).expect("text");
    assert!(version(&[]).starts_with("keyhoard ") && version(&["--backend"]).starts_with("keyhoard "));
    assert_eq!(version(&["--extended"]).lines().next(), version(&[]).lines().next());
    assert_eq!(version(&["--sop-spec"]), "~draft-dkg-openpgp-stateless-cli-15\n");
    assert_eq!(version(&["--sopv"]), "1.0\n");
    for subcommand in ["generate-key", "encrypt"] {
        let profiles = String::from_utf8(sop.ok(&["list-profiles", subcommand], b"")).expect("text");
        assert!(!profiles.is_empty(), "no profiles for {subcommand}");
        for line in profiles.lines() {
            let profile = line.split_once(": ").expect("a name and a description").0;
            let option = format!("--profile={profile}");
            match subcommand {
                "encrypt" => drop(sop.ok(&["encrypt", &option, "ann.cert"], TEXT)),
                _ => drop(sop.ok(&["generate-key", &option, "Bob"], b"")),
            }
        }
    }
}

#[test]
fn clear_text_is_verified_only_if_its_headers_are_lists_of_digests() {
    let sop = Sop::new().with_ann(&[]);
    let message = sop.ok(&["inline-sign", "--as=clearsigned", "ann.key"], TEXT);
    let message = String::from_utf8(message).expect("text");
    let (title, rest) = message.split_once('\n').expect("a title");
    let (_, text) = rest.split_once("\n\n").expect("headers");
    let with = |headers: &str| format!("{title}\n{headers}\n{text}").into_bytes();
    // What they name says nothing (RFC 9580, 6.2.2.3).
    for headers in ["", "Hash: SHA256\n", "Hash: SHA1, MD5\n", "Hash: SHA512\nHash: SHA256\r\n"] {
        assert_eq!(sop.ok(&["inline-verify", "ann.cert"], &with(headers)), TEXT, "{headers:?}");
    }
    let refused = [
        "Hash: SHA512 You owe me\n",
        "Hash: You owe me\n",
        "Hash: SHA512,\n",
        "Hash:\n",
        "Hash:SHA512\n",
        "Hash: SHA512\x0b\x0bYou owe me\n",
        "Hash: SHA512\0\n",
        "hash: SHA512\n",
        "Comment: You owe me\n",
        "You owe me\n",
        "Hash: SHA512\n SHA256\n",
        "NotDashEscaped: You need GnuPG to verify this message\n",
    ];
    for (number, headers) in refused.into_iter().enumerate() {
        sop.fails(41, &["inline-verify", "ann.cert"], &with(headers));
        let signatures = format!("--signatures-out=signatures{number}.out");
        sop.fails(41, &["inline-detach", &signatures], &with(headers));
        let own = Run::keyhoard(&sop.home).arg("verify").stdin(with(headers)).output();
        assert_eq!(own.code, Some(2), "{headers:?} {}", own.errors());
    }
    // Without the empty line the text would be headers.
    sop.fails(41, &["inline-verify", "ann.cert"], &with("Hash: SHA512\nHash: SHA512"));
}

#[test]
fn clear_text_without_a_signature_is_not_signed() {
    let sop = Sop::new().with_ann(&[]);
    let message = sop.ok(&["inline-sign", "--as=clearsigned", "ann.key"], TEXT);
    let message = String::from_utf8(message).expect("text");
    let (text, _) = message.split_once("-----BEGIN PGP SIGNATURE").expect("a signature");
    for block in
        ["\n=twTO\n-----END PGP SIGNATURE-----\n", "\nygNQR1A=\n=GG5/\n-----END PGP SIGNATURE-----\n"]
    {
        let unsigned = format!("{text}-----BEGIN PGP SIGNATURE-----\n{block}");
        sop.fails(3, &["inline-verify", "ann.cert"], unsigned.as_bytes());
        let signatures = format!("--signatures-out=signatures{}.out", block.len());
        sop.fails(41, &["inline-detach", &signatures], unsigned.as_bytes());
    }
}

#[test]
fn sop_makes_no_database() {
    let sop = Sop::new().with_ann(&[]);
    sop.put("letter.sig", sop.ok(&["sign", "ann.key"], TEXT));
    sop.ok(&["verify", "letter.sig", "ann.cert"], TEXT);
    sop.ok(&["update-key"], &sop.get("ann.key"));
    assert!(!Path::new(&sop.home.database()).exists());
}

/// Returns a message that holds the text, signed in one pass.
fn inline(key: &packet_builder::Key, content: &[u8]) -> Vec<u8> {
    let signature = packet_builder::Signature::by(key, 0x00).at(packet_builder::MADE + 1000);
    let packets = [
        packet_builder::OnePass::of(&signature, key).packet(),
        packet_builder::Literal::new(content).packet(),
        signature.sign(key, &packet_builder::Signed::Bytes(content)),
    ];
    packet_builder::bytes(&packets)
}

#[test]
fn a_signature_needs_a_key_with_the_signing_flag_and_a_subkey_with_a_back_signature() {
    let reader = Sop::new().with_ann(&[]);
    for case in signing_keys() {
        reader.put("signer.cert", &case.certificate);
        reader.put("letter.sig", case.signature());
        let done = reader.run(&["verify", "letter.sig", "signer.cert"], SIGNED_TEXT);
        // SHA-1 is accepted nowhere here.
        let is_accepted = case.is_accepted && !case.name.starts_with("SHA-1");
        let expected = if is_accepted { 0 } else { 3 };
        assert_eq!(done.code, Some(expected), "{}: {}", case.name, done.errors());
        let message = inline(&case.key, SIGNED_TEXT);
        let done = reader.run(&["inline-verify", "signer.cert"], &message);
        assert_eq!(done.code, Some(expected), "{}: {}", case.name, done.errors());
        assert_eq!(done.stdout == SIGNED_TEXT, is_accepted, "{}", case.name);
    }
}

#[test]
fn a_certificate_that_claims_a_key_before_its_owners_changes_nothing() {
    let ann = Victim::new();
    let sop = Sop::new();
    sop.put("ann.cert", &ann.certificate);
    sop.put("others.cert", ann.claimants(20));
    sop.put("all.cert", [ann.claimants(20), ann.certificate.clone()].concat());
    for key in [&ann.primary, &ann.subkey] {
        sop.put("letter.sig", detached(key, SIGNED_TEXT));
        for certificates in [&["all.cert"][..], &["others.cert", "ann.cert"], &["ann.cert", "others.cert"]] {
            let told = sop.ok(&[&["verify", "letter.sig"], certificates].concat(), SIGNED_TEXT);
            let told = String::from_utf8_lossy(&told).into_owned();
            assert_eq!(told.split(' ').nth(2), Some(&ann.primary.fingerprint_text()[..]), "{told}");
        }
        sop.fails(3, &["verify", "letter.sig", "others.cert"], SIGNED_TEXT);
    }
}
