// mutate <keyring> <outdir> <seed> <count>
use cert::packet::*;
use cert::split::*;
use keyhoard_cert as cert;
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut r = Rng(a[3].parse::<u64>().unwrap().wrapping_mul(0x9E3779B97F4A7C15) | 1);
    for _ in 0..10 {
        r.next();
    }
    let count: usize = a[4].parse().unwrap();
    let certs: Vec<Vec<u8>> = Splitter::new(std::fs::File::open(&a[1]).unwrap())
        .filter_map(|p| match p {
            Ok(Piece::Certificate(c)) => Some(c.bytes),
            _ => None,
        })
        .collect();
    let small: Vec<&Vec<u8>> = certs.iter().filter(|c| Packets::new(c).count() < 120).collect();
    for i in 0..count {
        let c = small[r.below(small.len())];
        let mut p: Vec<(Tag, Vec<u8>)> = Packets::new(c)
            .map(|p| {
                let p = p.unwrap();
                (p.tag, p.body.to_vec())
            })
            .collect();
        let ops = 1 + r.below(4);
        let mut log = String::new();
        for _ in 0..ops {
            let n = p.len();
            if n < 3 {
                break;
            }
            let op = r.below(14);
            log += &format!("{op} ");
            match op {
                0 => {
                    for k in (2..n).rev() {
                        let j = 1 + r.below(k);
                        p.swap(k, j);
                    }
                }
                1 => {
                    let k = 1 + r.below(n - 1);
                    let x = p[k].clone();
                    let j = 1 + r.below(n);
                    p.insert(j.min(p.len()), x);
                }
                2 => {
                    let k = 1 + r.below(n - 1);
                    let x = p.remove(k);
                    let j = 1 + r.below(p.len());
                    p.insert(j.min(p.len()), x);
                }
                3 => {
                    let k = 1 + r.below(n - 1);
                    p.remove(k);
                }
                4 => {
                    // flip in mpi of a signature (last bytes)
                    let s: Vec<usize> = (1..n).filter(|&k| p[k].0 == Tag::SIGNATURE).collect();
                    if s.is_empty() {
                        continue;
                    }
                    let k = s[r.below(s.len())];
                    let l = p[k].1.len();
                    let b = l - 1 - r.below(10);
                    p[k].1[b] ^= 1 << r.below(8);
                }
                5 => {
                    // duplicate whole cert body
                    let x: Vec<_> = p[1..].to_vec();
                    p.extend(x);
                }
                6 => {
                    let l = r.below(n - 1) + 1;
                    p[1..].rotate_left(l);
                }
                7 => {
                    let o = certs[r.below(certs.len())].clone();
                    let o: Vec<_> = Packets::new(&o)
                        .map(|p| {
                            let p = p.unwrap();
                            (p.tag, p.body.to_vec())
                        })
                        .collect();
                    let k = 1 + r.below(o.len() - 1);
                    let j = 1 + r.below(n);
                    p.insert(j.min(n), o[k].clone());
                }
                8 => {
                    let s: Vec<usize> =
                        (1..n).filter(|&k| p[k].0 == Tag::PUBLIC_SUBKEY || p[k].0 == Tag::USER_ID).collect();
                    if s.is_empty() {
                        continue;
                    }
                    let k = s[r.below(s.len())];
                    let x = p.remove(k);
                    let j = 1 + r.below(p.len());
                    p.insert(j.min(p.len()), x);
                }
                9 => {
                    // flip creation time byte in key? flip a byte of digest prefix: in v4: after unhashed
                    let s: Vec<usize> =
                        (1..n).filter(|&k| p[k].0 == Tag::SIGNATURE && p[k].1[0] == 4).collect();
                    if s.is_empty() {
                        continue;
                    }
                    let k = s[r.below(s.len())];
                    let h = usize::from(p[k].1[4]) << 8 | usize::from(p[k].1[5]);
                    let u = usize::from(p[k].1[6 + h]) << 8 | usize::from(p[k].1[7 + h]);
                    let at = 8 + h + u;
                    p[k].1[at] ^= 1;
                }
                10 => {
                    // remove all self-binding of one: drop the packet after a component
                    let s: Vec<usize> = (1..n - 1)
                        .filter(|&k| p[k].0 != Tag::SIGNATURE && p[k + 1].0 == Tag::SIGNATURE)
                        .collect();
                    if s.is_empty() {
                        continue;
                    }
                    let k = s[r.below(s.len())];
                    p.remove(k + 1);
                }
                11 => {
                    // change sig class
                    let s: Vec<usize> =
                        (1..n).filter(|&k| p[k].0 == Tag::SIGNATURE && p[k].1[0] == 4).collect();
                    if s.is_empty() {
                        continue;
                    }
                    let k = s[r.below(s.len())];
                    let c = [0x10, 0x13, 0x18, 0x1f, 0x20, 0x28, 0x30, 0x19, 0x00];
                    p[k].1[1] = c[r.below(c.len())];
                }
                12 => {
                    // trust packet
                    let j = 1 + r.below(n);
                    p.insert(j.min(n), (Tag(12), vec![0, 0]));
                }
                _ => {
                    // copy with other unhashed: append an unhashed notation-ish private subpacket
                    let s: Vec<usize> =
                        (1..n).filter(|&k| p[k].0 == Tag::SIGNATURE && p[k].1[0] == 4).collect();
                    if s.is_empty() {
                        continue;
                    }
                    let k = s[r.below(s.len())];
                    let mut x = p[k].clone();
                    let h = usize::from(x.1[4]) << 8 | usize::from(x.1[5]);
                    let u = usize::from(x.1[6 + h]) << 8 | usize::from(x.1[7 + h]);
                    let nu = u + 3;
                    x.1[6 + h] = (nu >> 8) as u8;
                    x.1[7 + h] = nu as u8;
                    let at = 8 + h + u;
                    x.1.splice(at..at, [2, 101, 7]);
                    let j = 1 + r.below(n);
                    p.insert(j.min(n), x);
                }
            }
        }
        let mut out = vec![];
        for (t, b) in &p {
            write_header(&mut out, *t, b.len() as u32);
            out.extend(b);
        }
        std::fs::write(format!("{}/{i}.pgp", a[2]), &out).unwrap();
        std::fs::write(format!("{}/{i}.log", a[2]), &log).unwrap();
    }
}
