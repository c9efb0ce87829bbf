//! Which addresses are public (the IANA's registries of special-purpose addresses, RFC 6890).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Says whether an address belongs to the public internet: not to this machine, a private network or a purpose of its
/// own.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 240.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224..=239, ..)
    );
    !is_special
}

/// Addresses that contain one of version 4 are as public as that one.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b, c, d, e, f) {
        // ::, ::1, addresses of version 4 in version 6 (RFC 4291, 2.5.5), translated ones (RFC 6052).
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => v4(g, h),
        // 6to4 (RFC 3056).
        (0x2002, ..) => v4(b, c),
        // Everything public begins with 001; of that, 2001::/23 and 2001:db8::/32 have purposes of their own.
        (0x2001, 0..=0x1ff | 0xdb8, ..) | (0x3fff, 0..=0xfff, ..) => false,
        _ => a >> 13 == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_of_private_networks_are_not_public() {
        let special = [
            "127.0.0.1",
            "127.255.0.3",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.7.7",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.251",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "::127.0.0.1",
        ];
        for text in special {
            assert!(!is_public(text.parse().expect("an address")), "{text}");
        }
        let public = [
            "9.9.9.9",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "223.255.255.1",
            "198.17.0.1",
            "2a00:1450::1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:9.9.9.9",
            "2002:909:909::1",
        ];
        for text in public {
            assert!(is_public(text.parse().expect("an address")), "{text}");
        }
    }
}
