//! A secret key that was read is nowhere in this process's memory afterwards.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use keyhoard_cert::packet::{Tag, write_header};
use keyhoard_cert::split::Splitter;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

/// The bytes of the secret part: made again where they are needed, since this test must not hold them either.
fn secret_byte(index: usize) -> u8 {
    (index as u8).wrapping_mul(151) ^ 0x5c
}

const LENGTH: usize = 48;

/// Hands out a secret key packet in binary form, byte by byte.
struct Binary {
    at: usize,
}

impl Binary {
    fn byte(&self) -> Option<u8> {
        let mut header = Vec::new();
        // Version 4, no time, RSA: a modulus and an exponent of two bytes each, then a secret part in the clear.
        let public = [4, 0, 0, 0, 0, 1, 0, 16, 0xff, 0xff, 0, 16, 0xff, 0xff, 0];
        write_header(&mut header, Tag::SECRET_KEY, (public.len() + LENGTH) as u32);
        header.extend(public);
        match self.at.checked_sub(header.len()) {
            None => Some(header[self.at]),
            Some(index) => (index < LENGTH).then(|| secret_byte(index)),
        }
    }
}

impl Read for Binary {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        for (count, place) in out.iter_mut().enumerate() {
            match self.byte() {
                Some(byte) => *place = byte,
                None => return Ok(count),
            }
            self.at += 1;
        }
        Ok(out.len())
    }
}

fn armored() -> impl Read {
    let mut packet = Vec::with_capacity(1024);
    Binary { at: 0 }.take(1024).read_to_end(&mut packet).expect("it can be read");
    let text = STANDARD.encode(&packet);
    packet.fill(0);
    let text =
        format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{text}\n-----END PGP PRIVATE KEY BLOCK-----\n");
    std::io::Cursor::new(text.into_bytes())
}

/// Makes a compressed packet of it, of a literal code for each byte (RFC 1951, 3.2.6): a library would keep a copy.
fn compressed() -> impl Read {
    let bytes = std::iter::successors(Some(Binary { at: 0 }), |binary| Some(Binary { at: binary.at + 1 }));
    let literals = bytes.map_while(|binary| binary.byte()).map(|byte| match byte {
        0..144 => (0x30 + u32::from(byte), 8),
        144.. => (0x190 + u32::from(byte) - 144, 9),
    });
    // The last block of fixed codes, of which the type stands in the other order of bits; after it the end's code.
    let codes = std::iter::once((0b110, 3)).chain(literals).chain([(0, 7)]);
    let mut packet = vec![0xa3, 1];
    let mut bits = 0;
    for (code, length) in codes {
        for bit in (0..length).rev().map(|place| (code >> place & 1) as u8) {
            if bits % 8 == 0 {
                packet.push(0);
            }
            *packet.last_mut().expect("a byte") |= bit << (bits % 8);
            bits += 1;
        }
    }
    std::io::Cursor::new(packet)
}

/// Says whether the secret part stands anywhere in memory that this process can write to; `buffer` is what it looks
/// through it with, made before so that it takes no place where the secret part may stand.
fn is_in_memory(buffer: &mut [u8]) -> bool {
    let memory = File::open("/proc/self/mem").expect("this process's memory");
    let maps = BufReader::new(File::open("/proc/self/maps").expect("this process's memory map"));
    let mut found = false;
    for line in maps.lines().map(|line| line.expect("a line")) {
        let mut fields = line.split([' ', '-']);
        let mut number = || u64::from_str_radix(fields.next()?, 16).ok();
        let (Some(mut start), Some(end)) = (number(), number()) else { continue };
        if !fields.next().is_some_and(|access| access.starts_with("rw")) {
            continue;
        }
        while start < end {
            let wanted = buffer.len().min((end - start) as usize);
            let Ok(read @ 1..) = memory.read_at(&mut buffer[..wanted], start) else { break };
            found |= buffer[..read]
                .windows(LENGTH)
                .any(|window| window.iter().enumerate().all(|(index, &byte)| byte == secret_byte(index)));
            // What was found must not be found here again.
            buffer.fill(0);
            start += read.saturating_sub(LENGTH - 1).max(1) as u64;
        }
    }
    found
}

#[test]
fn no_buffer_keeps_a_secret_key_once_the_stream_is_read() {
    // From here on the allocator keeps what is freed, where it could be found, instead of giving it back to the system.
    drop(std::hint::black_box(vec![1_u8; 16 << 20]));
    let mut buffer = vec![0; 1 << 20];
    for stream in [Box::new(Binary { at: 0 }) as Box<dyn Read>, Box::new(armored()), Box::new(compressed())] {
        let mut splitter = Splitter::new(stream);
        assert!(matches!(splitter.next(), Some(Ok(_))));
        assert!(is_in_memory(&mut buffer), "the search finds it while it is read");
        drop(splitter);
        assert!(!is_in_memory(&mut buffer));
    }
}
