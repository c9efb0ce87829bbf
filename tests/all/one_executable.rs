//! `keyhoard` and `gpg-keyhoard` are one executable, which looks at the name it is called by.

use std::os::unix::fs::symlink;

use harness::{Home, Run};

#[test]
fn keyhoard_called_by_a_name_of_gpgs_is_gpg_keyhoard() {
    let home = Home::new();
    let version = |name: &str| {
        let link = home.path().join(name);
        symlink(Run::program_path("keyhoard"), &link).expect("a link");
        Run::new(&link, home.of_user()).arg("--version").succeed().text()
    };
    let gpg = Run::new(&Run::program_path("gpg-keyhoard"), home.of_user()).arg("--version").succeed().text();
    assert!(gpg.starts_with("gpg (GnuPG) "), "{gpg}");
    for name in ["gpg", "gpg2", "gpg-keyhoard"] {
        assert_eq!(version(name), gpg, "{name}");
    }
    assert!(version("hoard").starts_with("keyhoard "));
}
