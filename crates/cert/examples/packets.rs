use cert::Timestamp;
use cert::clean::*;
use cert::packet::*;
use cert::split::*;
use keyhoard_cert as cert;
use std::time::*;
fn main() {
    let mode = std::env::args().nth(1).unwrap();
    let file = std::env::args().nth(2).unwrap();
    let f = std::fs::File::open(&file).unwrap();
    let mut total = Duration::ZERO;
    let mut self_sigs = 0usize;
    let mut bad = 0usize;
    let mut n = 0;
    let opts = CleanOptions { no_repair: std::env::var("NOREPAIR").is_ok(), ..Default::default() };
    for piece in Splitter::new(f) {
        let raw = match piece {
            Ok(Piece::Certificate(raw)) => raw,
            Ok(_) => continue,
            Err(e) => {
                eprintln!("error {e}");
                continue;
            }
        };
        n += 1;
        let mut hidden = vec![];
        let bytes = if mode == "raw" {
            raw.bytes.clone()
        } else {
            let t = Instant::now();
            let c = clean(&raw, &opts, Timestamp(1767225600));
            total += t.elapsed();
            match c {
                Err(e) => {
                    eprintln!("refused {e}");
                    continue;
                }
                Ok(c) => {
                    if !c.has_user_ids {
                        eprintln!("no user ids {}", c.certificate.facts.primary().fingerprint);
                        continue;
                    }
                    if std::env::var("NOTES").is_ok() && !c.notes.is_empty() {
                        eprintln!("{} {:?}", c.certificate.facts.primary().fingerprint, c.notes);
                    }
                    for s in c.certificate.facts.components.iter().flat_map(|c| &c.signatures) {
                        if s.flags.superseded {
                            hidden.push(s.span.start);
                        }
                        if let Some(o) = &s.own {
                            self_sigs += 1;
                            if o.verdict != Some(verify::Verdict::Good) {
                                bad += 1;
                            }
                        }
                    }
                    if mode != "time" {
                        let again = rebuild(&c.certificate.bytes, &hidden).unwrap();
                        assert_eq!(again, c.certificate);
                    }
                    c.certificate.bytes
                }
            }
        };
        if mode == "time" {
            continue;
        }
        let mut out = String::new();
        for p in Packets::new(&bytes) {
            let p = p.unwrap();
            if hidden.contains(&p.span.start) {
                continue;
            }
            let d = verify::naming::sha256(&[p.body]);
            let what = if p.tag == Tag::SIGNATURE {
                let s = cert::signature::parse(p.body).unwrap();
                format!("{:02x} {}", s.kind.0, s.issuer().key_id)
            } else {
                String::new()
            };
            out += &format!("{} {:02x}{:02x}{:02x}{:02x} {}\n", p.tag.0, d[0], d[1], d[2], d[3], what);
        }
        print!("{out}");
    }
    eprintln!("{n} certs {total:?} self {self_sigs} not good {bad}");
}
