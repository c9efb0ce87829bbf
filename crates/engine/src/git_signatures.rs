//! The signed tags and commits of a git repository, read by git itself.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What is signed, and the signature, armored.
type Cut = (Vec<u8>, Vec<u8>);

/// The beginning of a signature in a tag.
const SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----\n";
/// The beginning of a commit's signature, in its header.
const HEADER: &[u8] = b"gpgsig ";
/// Longer objects are not read.
const MAX_OBJECT: u64 = 16 << 20;

/// An object that is too large to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object has {0} bytes; more than 16 MiB are not read")]
pub struct TooLarge(u64);

/// A signed object, or one that is too large to see whether it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedObject {
    /// Its name: the tag's reference, or the commit's identifier.
    pub name: String,
    /// Its identifier.
    pub id: String,
    /// What is signed, and the signature, armored.
    pub content: Result<(Vec<u8>, Vec<u8>), TooLarge>,
}

/// The signed objects of a repository, in git's order.
pub struct SignedObjects {
    /// Signatures are looked for in commits, else in tags.
    commits: bool,
    /// The objects, one a line: identifier and name.
    list: io::Lines<BufReader<ChildStdout>>,
    to_git: ChildStdin,
    from_git: BufReader<ChildStdout>,
    children: [Child; 2],
}

impl SignedObjects {
    /// Begins with all annotated tags, or with all commits that references lead to.
    ///
    /// # Errors
    ///
    /// What starting git says.
    pub fn of(repository: &Path, commits: bool) -> io::Result<Self> {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(repository).args(arguments).stdout(Stdio::piped());
            command
        };
        let listing: &[&str] = match commits {
            true => &["rev-list", "--all"],
            false => &["for-each-ref", "--format=%(objectname) %(refname:short)", "refs/tags"],
        };
        let mut lister = git(listing).stdin(Stdio::null()).spawn()?;
        let mut reader = git(&["cat-file", "--batch"]).stdin(Stdio::piped()).spawn()?;
        let taken = || io::Error::other("git gave no pipe");
        Ok(Self {
            commits,
            list: BufReader::new(lister.stdout.take().ok_or_else(taken)?).lines(),
            to_git: reader.stdin.take().ok_or_else(taken)?,
            from_git: BufReader::new(reader.stdout.take().ok_or_else(taken)?),
            children: [lister, reader],
        })
    }

    /// Reads an object; none if it is of another type, as what a lightweight tag names is.
    fn object(&mut self, id: &str) -> io::Result<Option<Result<Vec<u8>, TooLarge>>> {
        writeln!(self.to_git, "{id}")?;
        self.to_git.flush()?;
        let mut head = String::new();
        self.from_git.read_line(&mut head)?;
        let mut words = head.trim_end().rsplit(' ');
        let length: Option<u64> = words.next().and_then(|length| length.parse().ok());
        let length = length.ok_or_else(|| io::Error::other(format!("git cat-file: {}", head.trim_end())))?;
        let is_meant = words.next() == Some(if self.commits { "commit" } else { "tag" });
        let mut bytes = Vec::new();
        let kept = if is_meant && length <= MAX_OBJECT { length } else { 0 };
        self.from_git.by_ref().take(kept).read_to_end(&mut bytes)?;
        io::copy(&mut self.from_git.by_ref().take(length - kept + 1), &mut io::sink())?;
        let object = if length > MAX_OBJECT { Err(TooLarge(length)) } else { Ok(bytes) };
        Ok(is_meant.then_some(object))
    }

    fn next_signed(&mut self) -> io::Result<Option<SignedObject>> {
        while let Some(line) = self.list.next().transpose()? {
            let (id, name) = line.split_once(' ').unwrap_or((&line, &line));
            let cut = if self.commits { of_commit } else { of_tag };
            let content = self.object(id)?.and_then(|object| object.map(|bytes| cut(&bytes)).transpose());
            if let Some(content) = content {
                return Ok(Some(SignedObject { name: name.to_owned(), id: id.to_owned(), content }));
            }
        }
        self.children[0].wait()?.success().then_some(None).ok_or_else(|| io::Error::other("git failed"))
    }
}

impl Iterator for SignedObjects {
    type Item = io::Result<SignedObject>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_signed().transpose()
    }
}

impl Drop for SignedObjects {
    fn drop(&mut self) {
        for child in &mut self.children {
            // A process that has ended is only waited for.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Cuts a tag before its signature, which is the last one in it.
fn of_tag(object: &[u8]) -> Option<Cut> {
    if !object.starts_with(b"object ") {
        return None;
    }
    let at = memchr::memmem::rfind(object, SIGNATURE).filter(|&at| at > 0 && object[at - 1] == b'\n')?;
    Some((object[..at].to_vec(), object[at..].to_vec()))
}

/// Removes the signature from a commit's header, in which its lines but for the first begin with a space.
fn of_commit(object: &[u8]) -> Option<Cut> {
    if !object.starts_with(b"tree ") {
        return None;
    }
    let (mut payload, mut signature) = (Vec::with_capacity(object.len()), Vec::new());
    let (mut inside, mut in_header) = (false, true);
    for line in object.split_inclusive(|byte| *byte == b'\n') {
        let of_signature = match line.strip_prefix(HEADER) {
            Some(first) if in_header && signature.is_empty() => Some(first),
            _ => line.strip_prefix(b" ").filter(|_| inside),
        };
        inside = of_signature.is_some();
        in_header &= line != b"\n";
        match of_signature {
            Some(part) => signature.extend_from_slice(part),
            None => payload.extend_from_slice(line),
        }
    }
    (!signature.is_empty()).then_some((payload, signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_cut_before_its_last_signature() {
        let tag = b"object 1\ntag v1\n\nRelease\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n";
        let (payload, signature) = of_tag(tag).expect("a signed tag");
        assert_eq!(payload, b"object 1\ntag v1\n\nRelease\n");
        assert!(signature.starts_with(SIGNATURE));
        assert_eq!(of_tag(b"object 1\ntag v1\n\nRelease\n"), None);
        assert_eq!(of_tag(b"tree 1\n-----BEGIN PGP SIGNATURE-----\n"), None);
    }

    #[test]
    fn a_tag_that_is_too_large_is_an_error_and_the_next_one_is_read() {
        let repository = tempfile::tempdir().expect("a directory");
        let git = |arguments: &[&str], input: &[u8]| -> String {
            let mut git = Command::new("git");
            git.arg("-C").arg(repository.path()).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut git = git.spawn().expect("git is installed");
            git.stdin.take().expect("a pipe").write_all(input).expect("git reads everything");
            let done = git.wait_with_output().expect("it ends");
            assert!(done.status.success(), "{arguments:?}");
            String::from_utf8(done.stdout).expect("text").trim_end().to_owned()
        };
        git(&["init", "--quiet"], b"");
        let signed = [b"object 1\n\n", SIGNATURE].concat();
        let large = [&signed[..], &vec![b'\n'; MAX_OBJECT as usize], b"unsigned"].concat();
        for (name, content) in [("large", &large), ("small", &signed)] {
            let store = ["hash-object", "-t", "tag", "-w", "--literally", "--stdin"];
            let id = git(&store, content);
            let references = repository.path().join(".git/refs/tags");
            std::fs::write(references.join(name), id).expect("git made the directory");
        }
        let tags: io::Result<Vec<_>> = SignedObjects::of(repository.path(), false).expect("git").collect();
        let [large, small] = &tags.expect("no error")[..] else { panic!("there are two tags") };
        assert!(large.name == "large" && large.content.is_err(), "{:?}", large.content);
        assert!(small.name == "small" && small.content.is_ok(), "{:?}", small.content);
    }

    #[test]
    fn a_commit_s_signature_is_in_its_header_only() {
        let commit = b"tree 1\nauthor A\ngpgsig -----BEGIN\n \n abc\n -----END\nencoding X\n\nText\ngpgsig no\n more\n";
        let (payload, signature) = of_commit(commit).expect("a signed commit");
        assert_eq!(payload, b"tree 1\nauthor A\nencoding X\n\nText\ngpgsig no\n more\n");
        assert_eq!(signature, b"-----BEGIN\n\nabc\n-----END\n");
        assert_eq!(of_commit(b"tree 1\n\ngpgsig no\n"), None);
    }
}
