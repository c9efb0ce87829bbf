//! An export of everything holds the packets that the real gpg exports.

use harness::packets::{Component, Packet, SUBKEY, certificates, components};
use harness::{Both, Reference};

#[test]
fn oracle_export_of_the_members_who_do_not_upload_has_gpgs_packets() {
    compare(Reference::Nonupload);
}

#[test]
fn oracle_export_of_all_three_keyrings_has_gpgs_packets() {
    compare(Reference::Three);
}

/// Asserts that the exports hold the same certificates in the same order, each with the same components in the
/// same order, each component with the same signatures.
fn compare(reference: Reference) {
    let [gpg, keyhoard] = Both::of(reference).run(["--export"]);
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
    let [expected, found] = [&gpg, &keyhoard].map(|done| certificates(&done.stdout));
    let differing: Vec<String> = expected
        .iter()
        .zip(&found)
        .enumerate()
        .filter_map(|(number, (expected, found))| difference(number, expected, found))
        .collect();
    let count = differing.len();
    assert!(count == 0, "{count} certificates differ\n{}", differing[..count.min(20)].join("\n"));
    assert_eq!(found.len(), expected.len(), "certificates exported");
}

/// Leaves out certifications (types 0x10 to 0x13) on subkeys, as [`harness::without_misplaced`] does in listings.
fn without_misplaced(mut components: Vec<Component<'_>>) -> Vec<Component<'_>> {
    for subkey in components.iter_mut().filter(|component| component.tag == SUBKEY) {
        subkey.signatures.retain(|signature| !matches!(signature, [4, 0x10..=0x13, ..]));
    }
    components
}

fn difference(number: usize, expected: &[Packet<'_>], found: &[Packet<'_>]) -> Option<String> {
    let [expected, found] = [expected, found].map(|packets| without_misplaced(components(packets)));
    if expected == found {
        return None;
    }
    let same = expected.iter().zip(&found).take_while(|(one, other)| one == other).count();
    let show = |components: &[Component<'_>]| match components.get(same) {
        Some(Component { tag, body, signatures }) => {
            let start = body[..body.len().min(60)].escape_ascii();
            format!("packet type {tag} \"{start}\" with {} signatures", signatures.len())
        }
        None => "nothing more".to_owned(),
    };
    Some(format!(
        "certificate {number}, component {same}: gpg has {}, gpg-keyhoard {}",
        show(&expected),
        show(&found)
    ))
}
