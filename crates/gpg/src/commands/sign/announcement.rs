//! Messages and status lines about signatures that are made.

use engine::cert::facts::SignatureType;
use engine::verify::HashAlgorithm;

use super::signers::Signer;
use crate::algorithms::{digest_name, public_key_name};
use crate::settings::{Form, Settings};
use crate::streams::Streams;

/// Writes the `BEGIN_SIGNING` line with the hash algorithms.
pub(crate) fn begin(streams: &mut Streams, signers: &[Signer]) {
    let mut digests: Vec<u8> = signers.iter().map(|signer| signer.digest.0).collect();
    digests.sort_unstable();
    digests.dedup();
    let digests: String = digests.iter().map(|digest| format!(" H{digest}")).collect();
    streams.status(format!("BEGIN_SIGNING{digests}"));
}

/// Reports which signatures were made.
pub(crate) fn created(
    settings: &Settings,
    streams: &mut Streams,
    signers: &[Signer],
    form: Form,
    kind: SignatureType,
) {
    let letter = match form {
        Form::Message => 'S',
        Form::Detached => 'D',
        Form::Clear => 'C',
    };
    for signer in signers {
        if signer.key_block.is_some() {
            streams.status(format!("EXPORTED {}", signer.primary));
        }
        if signer.digest == HashAlgorithm::MD5 {
            streams.info("WARNING: digest algorithm MD5 is deprecated");
        }
        if settings.verbose > 0 {
            let algorithm = public_key_name(signer.facts.algorithm.0);
            let digest = digest_name(signer.digest.0);
            let key_id = signer.key.key_id();
            let head = format!("{algorithm}/{digest} signature from: \"{key_id} ");
            streams.info_bytes(&[head.as_bytes(), &signer.user_id, b"\""].concat());
        }
        let (algorithm, digest, key) = (signer.facts.algorithm.0, signer.digest.0, signer.key);
        let (kind, time) = (kind.0, settings.now.0);
        streams.status(format!("SIG_CREATED {letter} {algorithm} {digest} {kind:02X} {time} {key}"));
    }
}
