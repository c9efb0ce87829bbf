//! S-expressions, as libgcrypt writes them: the canonical form, and the advanced form of files (RFC draft
//! "S-Expressions" by Rivest, 1997).

use zeroize::Zeroizing;

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 16;

/// The most elements that are read.
const MAX_ELEMENTS: usize = 1 << 12;

/// An s-expression. It is wiped when dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sexp {
    /// Bytes.
    Atom(Zeroizing<Vec<u8>>),
    /// A list.
    List(Vec<Sexp>),
}

impl Sexp {
    /// Makes an atom.
    pub fn atom(bytes: &[u8]) -> Self {
        Self::Atom(Zeroizing::new(bytes.to_vec()))
    }

    /// Makes a number: a zero byte stands before one whose highest bit is set, since numbers have a sign.
    pub fn number(bytes: &[u8]) -> Self {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let bytes = &bytes[zeros..];
        let sign: &[u8] = if bytes.first().is_none_or(|first| first & 0x80 != 0) { &[0] } else { &[] };
        Self::Atom(Zeroizing::new([sign, bytes].concat()))
    }

    /// Makes a list that begins with a name.
    pub fn named(name: &str, rest: impl IntoIterator<Item = Sexp>) -> Self {
        Self::List([Self::atom(name.as_bytes())].into_iter().chain(rest).collect())
    }

    /// Reads one expression, in the canonical or the advanced form, after which only spaces and zero bytes may follow;
    /// `None` if it cannot be read or is beyond the limits.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { rest: bytes, elements: 0 };
        let read = reader.expression(0)?;
        let rest = reader.rest;
        rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0)).then_some(read)
    }

    /// Reads the expression that bytes begin with; `None` if it cannot be read or is beyond the limits.
    pub fn read_beginning(bytes: &[u8]) -> Option<Self> {
        Reader { rest: bytes, elements: 0 }.expression(0)
    }

    /// Returns the canonical form.
    pub fn to_canonical(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(Vec::with_capacity(self.length()));
        self.write(&mut out);
        out
    }

    /// Returns the bytes of an atom.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Atom(bytes) => Some(bytes),
            Self::List(_) => None,
        }
    }

    /// Returns the elements of a list.
    pub fn elements(&self) -> Option<&[Sexp]> {
        match self {
            Self::Atom(_) => None,
            Self::List(elements) => Some(elements),
        }
    }

    /// Returns the name that a list begins with.
    pub fn name(&self) -> Option<&[u8]> {
        self.elements()?.first()?.bytes()
    }

    /// Returns the elements after the name of the first list directly inside that begins with it.
    pub fn child(&self, name: &str) -> Option<&[Sexp]> {
        let found = self.elements()?.iter().find(|element| element.name() == Some(name.as_bytes()))?;
        found.elements()?.get(1..)
    }

    /// Returns the bytes of the single value of a list directly inside: `x` of `(name x)`.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        match self.child(name)? {
            [value] => value.bytes(),
            _ => None,
        }
    }

    /// Returns the length of the canonical form, or more.
    fn length(&self) -> usize {
        match self {
            Self::Atom(bytes) => bytes.len() + 12,
            Self::List(elements) => elements.iter().map(Self::length).sum::<usize>() + 2,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Atom(bytes) => {
                out.extend_from_slice(format!("{}:", bytes.len()).as_bytes());
                out.extend_from_slice(bytes);
            }
            Self::List(elements) => {
                out.push(b'(');
                elements.iter().for_each(|element| element.write(out));
                out.push(b')');
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    elements: usize,
}

impl<'a> Reader<'a> {
    fn expression(&mut self, depth: usize) -> Option<Sexp> {
        self.elements += 1;
        if depth > MAX_DEPTH || self.elements > MAX_ELEMENTS {
            return None;
        }
        self.skip_spaces();
        match self.rest {
            [b'(', rest @ ..] => {
                self.rest = rest;
                self.list(depth).map(Sexp::List)
            }
            _ => self.atom().map(Sexp::Atom),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Sexp>> {
        let mut elements = Vec::new();
        loop {
            self.skip_spaces();
            if let [b')', rest @ ..] = self.rest {
                self.rest = rest;
                return Some(elements);
            }
            elements.push(self.expression(depth + 1)?);
        }
    }

    fn atom(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        match self.rest {
            [b'0'..=b'9', ..] => self.counted(),
            [b'#', ..] => hexadecimal(self.enclosed(b'#')?),
            [b'"', ..] => quoted(self.enclosed_quoted()?),
            [first, ..] if is_token(*first) => {
                let length = self.rest.iter().take_while(|byte| is_token(**byte)).count();
                let (token, rest) = self.rest.split_at(length);
                self.rest = rest;
                Some(token.to_vec().into())
            }
            _ => None,
        }
    }

    /// Reads a length, a colon and as many bytes.
    fn counted(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let colon = self.rest.iter().take(8).position(|&byte| byte == b':')?;
        let length = std::str::from_utf8(&self.rest[..colon]).ok()?.parse::<usize>().ok()?;
        let (bytes, rest) = self.rest[colon + 1..].split_at_checked(length)?;
        self.rest = rest;
        Some(bytes.to_vec().into())
    }

    fn enclosed(&mut self, end: u8) -> Option<&'a [u8]> {
        let inside = &self.rest[1..];
        let length = inside.iter().position(|&byte| byte == end)?;
        self.rest = &inside[length + 1..];
        Some(&inside[..length])
    }

    fn enclosed_quoted(&mut self) -> Option<&'a [u8]> {
        let inside = &self.rest[1..];
        let mut is_escaped = false;
        let length = inside.iter().position(|&byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        })?;
        self.rest = &inside[length + 1..];
        Some(&inside[..length])
    }

    fn skip_spaces(&mut self) {
        let spaces = self.rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.rest = &self.rest[spaces..];
    }
}

/// Returns the bytes of hexadecimal digits, between which there may be spaces.
fn hexadecimal(inside: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // With room for all, the bytes never move and leave no copy behind.
    let mut out = Zeroizing::new(Vec::with_capacity(inside.len() / 2));
    let mut first: Option<u8> = None;
    for byte in inside.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = char::from(*byte).to_digit(16)? as u8;
        match first.take() {
            None => first = Some(digit),
            Some(high) => out.push(high << 4 | digit),
        }
    }
    first.is_none().then_some(out)
}

/// Returns the bytes of a quoted string.
fn quoted(inside: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut out = Zeroizing::new(Vec::with_capacity(inside.len()));
    let mut rest = inside;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let [escape, after @ ..] = rest else { return None };
        rest = after;
        match escape {
            b'b' => out.push(8),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'n' => out.push(b'\n'),
            b'f' => out.push(12),
            b'r' => out.push(b'\r'),
            b'"' | b'\'' | b'\\' => out.push(*escape),
            b'x' => {
                let ([high, low], after) = rest.split_first_chunk::<2>()?;
                let digit = |byte: u8| char::from(byte).to_digit(16);
                out.push((digit(*high)? << 4 | digit(*low)?) as u8);
                rest = after;
            }
            _ => return None,
        }
    }
    Some(out)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-./_:*+=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_the_canonical_one_is_written() {
        let canonical = b"(11:private-key(3:rsa(1:n3:\x00\x80\x01)(1:e1:\x03)))";
        let advanced = b"(private-key (rsa (n #008001#)\n  (e \"\\x03\")))\n";
        let read = Sexp::read(canonical).expect("an expression");
        assert_eq!(Sexp::read(advanced).as_ref(), Some(&read));
        assert_eq!(*read.to_canonical(), canonical);
        assert_eq!(read.name(), Some(&b"private-key"[..]));
        let rsa = &read.elements().expect("a list")[1];
        assert_eq!(rsa.value("n"), Some(&[0, 0x80, 1][..]));
        assert_eq!(rsa.value("x"), None);
        assert_eq!(Sexp::read(b"#0 1\n2 F#"), Some(Sexp::atom(&[1, 0x2f])));
    }

    #[test]
    fn what_is_cut_short_or_too_deep_is_refused() {
        let canonical = b"(3:abc(1:x2:\x01\x02)#00#\"a\\n\")";
        assert!(Sexp::read(canonical).is_some());
        for length in 0..canonical.len() {
            assert_eq!(Sexp::read(&canonical[..length]), None, "{length}");
        }
        for wrong in
            [&b"(1:a))"[..], b"(99999999999:a)", b"(#0#)", b"(#xx#)", b"(\"\\q\")", b")", b"", b"[a]"]
        {
            assert_eq!(Sexp::read(wrong), None, "{wrong:?}");
        }
        let deep = [vec![b'('; 40], vec![b')'; 40]].concat();
        assert_eq!(Sexp::read(&deep), None);
        assert_eq!(Sexp::read(&[&b"("[..], &b"1:a".repeat(5000), b")"].concat()), None);
    }

    #[test]
    fn a_number_has_a_sign() {
        assert_eq!(Sexp::number(&[0, 0x80]).bytes(), Some(&[0, 0x80][..]));
        assert_eq!(Sexp::number(&[0, 0, 0x7f]).bytes(), Some(&[0x7f][..]));
        assert_eq!(Sexp::number(&[]).bytes(), Some(&[0][..]));
    }
}
