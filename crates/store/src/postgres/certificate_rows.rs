//! The rows of certificates that are added or replaced: each writer has those that it changes for itself.

use std::collections::{HashMap, HashSet};

use cert::Timestamp;

use super::certificate_number;
use super::derived::Derived;
use super::view::View;
use crate::rows::stored_fingerprint;
use crate::{CertId, Put, PutKind, Result, binding_rows, provenance};

const DOING: &str = "writing";

/// A certificate that is there and about to be replaced.
pub(super) struct Replaced<'p> {
    pub(super) id: i64,
    pub(super) put: &'p Put<'p>,
}

/// Gives new certificates their numbers; those whose primary key is there already get none.
pub(super) fn claim(view: &View<'_>, adds: &mut Vec<(Vec<u8>, i64, usize)>) -> Result<HashMap<usize, i64>> {
    const CLAIM: &str = "INSERT INTO primary_key (fingerprint, cert)
        SELECT * FROM unnest($1::bytea[], $2::bigint[]) ON CONFLICT DO NOTHING RETURNING fingerprint";
    const LOCK: &str = "SELECT id FROM cert WHERE id = ANY
        (ARRAY(SELECT cert FROM primary_key WHERE fingerprint = ANY ($1))) ORDER BY id FOR UPDATE";
    adds.sort_unstable();
    let fingerprints: Vec<&[u8]> = adds.iter().map(|(fingerprint, ..)| fingerprint.as_slice()).collect();
    let numbers: Vec<i64> = adds.iter().map(|(_, number, _)| *number).collect();
    let mut ours = HashSet::with_capacity(adds.len());
    for row in view.connection().rows(CLAIM, &[&fingerprints, &numbers], DOING)? {
        ours.insert(view.column::<Vec<u8>>(&row, 0)?);
    }
    let (mut claimed, mut taken) = (HashMap::with_capacity(ours.len()), Vec::new());
    for (fingerprint, number, index) in adds {
        // The first of several with the same key has it.
        if ours.remove(fingerprint) {
            claimed.insert(*index, *number);
        } else {
            taken.push(fingerprint.clone());
        }
    }
    // Those that another writer was quicker to add are to be merged into.
    if !taken.is_empty() {
        view.connection().rows(LOCK, &[&taken], DOING)?;
    }
    Ok(claimed)
}

/// Writes the rows of new certificates under their numbers, or the next ones where those are taken.
pub(super) fn insert(
    view: &View<'_>,
    now: Timestamp,
    batch: &[Put<'_>],
    claimed: &mut HashMap<usize, i64>,
) -> Result<()> {
    const INSERT: &str = "INSERT INTO cert (id, fingerprint, first_seen, changed, generation, superseded,
            origin_kind, origin_updated, origin_url)
        SELECT id, fingerprint, first_seen, changed, 1, superseded, kind, updated, url FROM unnest($1::bigint[],
            $2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[], $6::smallint[], $7::bigint[], $8::bytea[])
        AS new (id, fingerprint, first_seen, changed, superseded, kind, updated, url)
        ON CONFLICT (id) DO NOTHING RETURNING id";
    const MOVE: &str = "UPDATE primary_key SET cert = $2 WHERE fingerprint = $1";
    let mut rest: Vec<usize> = claimed.keys().copied().collect();
    while !rest.is_empty() {
        rest.sort_unstable_by_key(|index| claimed[index]);
        // Two of one batch may have the same number.
        let (mut round, mut later): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for index in rest {
            let same = round.last().is_some_and(|last| claimed[last] == claimed[&index]);
            if same { later.push(index) } else { round.push(index) }
        }
        let puts = || round.iter().map(|index| &batch[*index]);
        let ids: Vec<i64> = round.iter().map(|index| claimed[index]).collect();
        let fingerprints: Vec<Vec<u8>> =
            puts().map(|put| stored_fingerprint(&put.certificate.fingerprint)).collect();
        let first_seen: Vec<i64> = puts().map(|put| i64::from(put.kind.first_seen(now).0)).collect();
        let changed: Vec<i64> = puts().map(|put| i64::from(put.kind.changed(now).0)).collect();
        let superseded: Vec<Option<&[u8]>> =
            puts().map(|put| put.certificate.superseded.as_deref()).collect();
        let origins: Vec<_> = puts().map(|put| put.origin.clone().unwrap_or_default()).collect();
        let kinds: Vec<i16> = origins.iter().map(|origin| i16::from(origin.kind)).collect();
        let updated: Vec<Option<i64>> =
            origins.iter().map(|origin| origin.updated.map(|updated| i64::from(updated.0))).collect();
        let urls: Vec<Option<&[u8]>> =
            origins.iter().map(|origin| origin.url.as_ref().map(String::as_bytes)).collect();
        let rows = view.connection().rows(
            INSERT,
            &[&ids, &fingerprints, &first_seen, &changed, &superseded, &kinds, &updated, &urls],
            DOING,
        )?;
        let written: HashSet<i64> = rows.iter().map(|row| view.column(row, 0)).collect::<Result<_>>()?;
        later.extend(round.iter().copied().filter(|index| !written.contains(&claimed[index])));
        for index in &later {
            let number = claimed.get_mut(index).expect("it was claimed");
            *number = certificate_number::next(*number);
            let fingerprint = stored_fingerprint(&batch[*index].certificate.fingerprint);
            view.connection().execute(MOVE, &[&fingerprint, &*number], DOING)?;
        }
        rest = later;
    }
    Ok(())
}

/// Has the certificates for itself that are to be replaced, and leaves out those that have changed meanwhile.
pub(super) fn lock<'p>(
    view: &View<'_>,
    wanted: &[(usize, &'p Put<'p>)],
) -> Result<HashMap<usize, Replaced<'p>>> {
    const LOCK: &str =
        "SELECT id, generation, fingerprint FROM cert WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<i64> = wanted.iter().filter_map(|(_, put)| replaced(&put.kind)).map(|(id, _)| id).collect();
    let mut there = HashMap::new();
    for row in view.connection().rows(LOCK, &[&ids], DOING)? {
        let fingerprint: Vec<u8> = view.column(&row, 2)?;
        let id: i64 = view.column(&row, 0)?;
        there.insert(id, (view.column::<i64>(&row, 1)?, fingerprint));
    }
    let mut locked = HashMap::new();
    for &(index, put) in wanted {
        let Some((id, generation)) = replaced(&put.kind) else { continue };
        let current = (generation, stored_fingerprint(&put.certificate.fingerprint));
        if there.get(&id) == Some(&current) {
            there.remove(&id);
            locked.insert(index, Replaced { id, put });
        }
    }
    Ok(locked)
}

/// Takes away what is there of certificates that are about to be replaced, and keeps the rest right.
pub(super) fn replace(
    view: &View<'_>,
    now: Timestamp,
    locked: &HashMap<usize, Replaced<'_>>,
    derived: &mut Derived,
) -> Result<()> {
    const UPDATE: &str = "UPDATE cert SET changed = $1, generation = generation + 1,
        superseded = new.superseded FROM unnest($2::bigint[], $3::bytea[]) AS new (id, superseded)
        WHERE cert.id = new.id";
    if locked.is_empty() {
        return Ok(());
    }
    let mut replaced: Vec<&Replaced<'_>> = locked.values().collect();
    replaced.sort_unstable_by_key(|replaced| replaced.id);
    let ids: Vec<i64> = replaced.iter().map(|replaced| replaced.id).collect();
    let user_ids = view.user_ids(&ids)?;
    for Replaced { id, put } in &replaced {
        let before = user_ids.get(id).map(Vec::as_slice).unwrap_or_default();
        binding_rows::rebind(
            view,
            &put.certificate.fingerprint,
            before,
            &put.certificate.rows.user_ids,
            now,
        )?;
    }
    let superseded: Vec<Option<&[u8]>> =
        replaced.iter().map(|replaced| replaced.put.certificate.superseded.as_deref()).collect();
    view.connection().execute(UPDATE, &[&i64::from(now.0), &ids, &superseded], DOING)?;
    for Replaced { id, put } in &replaced {
        if let Some(origin) = &put.origin {
            provenance::set_origin(view, CertId(*id), origin)?;
        }
    }
    derived.remove(view, &ids)?;
    view.connection().execute("DELETE FROM packets WHERE cert = ANY ($1)", &[&ids], DOING).map(drop)
}

/// Returns which certificate a write replaces, and the generation that was read.
pub(super) fn replaced(kind: &PutKind) -> Option<(i64, i64)> {
    match kind {
        PutKind::Merged { id, generation, .. } | PutKind::Shrunk { id, generation } => {
            Some((id.0, *generation))
        }
        PutKind::New | PutKind::Migrated { .. } | PutKind::Copied { .. } | PutKind::Restored { .. } => None,
    }
}
