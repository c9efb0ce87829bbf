//! Trust in both programs: giving it, and comparing what follows from it.

use crate::{Both, Home, Output, Run, difference, mask};

/// The settings of a home in which trust counts. User IDs without a self-signature are taken in.
const CONF: &str = "allow-non-selfsigned-uid\n";

impl Both {
    /// Makes two empty homes in which trust counts (in those of [`Both::new`] the trust model is `always`).
    pub fn with_trust() -> Both {
        Both::in_homes([Home::with_conf(CONF), Home::with_conf(CONF)])
    }

    /// Makes copies of both homes.
    pub fn copy(&self) -> Both {
        let [gpg, keyhoard] = [&self.gpg, &self.keyhoard].map(|home| Home::copy_of(home.path()));
        Both::in_homes([gpg, keyhoard]).now(self.clock())
    }

    /// Lets trust count in homes where it did not.
    pub fn trusting(self) -> Both {
        for home in [&self.gpg, &self.keyhoard] {
            home.write("gpg.conf", CONF);
        }
        self
    }

    /// Tells both whom the user trusts, in the form that `--export-ownertrust` writes.
    pub fn import_owner_trust(&self, text: &str) {
        let [gpg, keyhoard] = [&self.gpg, &self.keyhoard].map(|home| home.write("ownertrust", text));
        let import = |run: Run, file| run.at(self.clock()).arg("--import-ownertrust").arg(file).succeed();
        import(Run::gpg(&self.gpg), gpg);
        import(Run::gpg_keyhoard(&self.keyhoard), keyhoard);
    }

    /// Lets both check their trust with these options, and returns what differs in the summaries, if anything does.
    pub fn difference_of_trust_checks(&self, options: &[String]) -> Option<String> {
        let mut arguments = options.to_vec();
        arguments.extend(["--yes", "--check-trustdb"].map(String::from));
        if options.iter().any(|option| option == "--trusted-key") {
            // In the process in which gpg learns of a trusted key it does not notice that this has expired.
            Run::gpg(&self.gpg).at(self.clock()).args(&arguments).succeed();
        }
        let [expected, found] = self.run(&arguments).map(|done| trust_summary(&done));
        difference(&arguments.join(" "), expected.as_bytes(), found.as_bytes())
    }

    /// Lets both list with trust, and returns what differs, if anything does, but for what [`mask()`] hides and what the
    /// listing tells of gpg's trust database.
    pub fn difference_of_listings(&self, arguments: &[String]) -> Option<String> {
        let [gpg, keyhoard] = self.run(arguments);
        let expected = without_trust_database(&mask(&gpg.stdout, &self.gpg));
        let found = without_trust_database(&mask(&keyhoard.stdout, &self.keyhoard));
        difference(&arguments.join(" "), &expected, &found)
    }
}

/// Returns a colon listing without what its `tru` record tells of gpg's trust database: whether it is out of date, for
/// which model it was made, when, and when something will change.
pub fn without_trust_database(listing: &[u8]) -> Vec<u8> {
    let listing = String::from_utf8_lossy(listing);
    let lines = listing.split_inclusive('\n').map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        match fields.as_slice() {
            ["tru", _, _, _, _, numbers @ ..] => format!("tru:{}", numbers.join(":")),
            _ => line.to_owned(),
        }
    });
    lines.collect::<String>().into_bytes()
}

/// Returns the lines of `--check-trustdb` that tell what it has found: settings, a line for each depth, and when
/// something changes next.
fn trust_summary(done: &Output) -> String {
    let errors = done.errors();
    let lines = errors.split_inclusive('\n').filter(|line| {
        [
            "marginals needed: ",
            "depth: ",
            "next trustdb check due",
            "no ultimately trusted",
            "no need for a trustdb",
        ]
        .iter()
        .any(|start| line.strip_prefix("gpg: ").is_some_and(|text| text.starts_with(start)))
    });
    lines.collect()
}
