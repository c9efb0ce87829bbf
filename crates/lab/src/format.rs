//! Formatting of numbers with units.

/// Formats seconds with three significant digits: `75.1 s`, `0.312 s`, `2.91 ms`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        7200.0.. => format!("{:.1} h", seconds / 3600.0),
        600.0.. => format!("{:.1} min", seconds / 60.0),
        100.0.. => format!("{seconds:.0} s"),
        10.0.. => format!("{seconds:.1} s"),
        1.0.. => format!("{seconds:.2} s"),
        0.1.. => format!("{seconds:.3} s"),
        0.01.. => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.2} ms", seconds * 1e3),
    }
}

/// Formats a number of bytes: `57.3 MB`, `812 kB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e8.. => format!("{:.0} MB", bytes / 1e6),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.0} kB", bytes / 1e3),
    }
}

/// Formats bytes per second: `1.9 GB/s`, `57 MB/s`.
pub(crate) fn rate(bytes: f64) -> String {
    match bytes {
        1e9.. => format!("{:.2} GB/s", bytes / 1e9),
        1e7.. => format!("{:.0} MB/s", bytes / 1e6),
        _ => format!("{:.1} MB/s", bytes / 1e6),
    }
}

/// Formats a ratio: `1.25 x`.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        100.0.. => format!("{ratio:.0} x"),
        10.0.. => format!("{ratio:.1} x"),
        _ => format!("{ratio:.2} x"),
    }
}

/// Formats a fraction as a percentage: `37.2 %`.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
        assert_eq!([185.4, 75.12, 0.3121, 0.00291].map(seconds), ["185 s", "75.1 s", "0.312 s", "2.91 ms"]);
        assert_eq!([812_000, 57_340_000, 2_500_000_000].map(bytes), ["812 kB", "57.3 MB", "2.5 GB"]);
        assert_eq!([1.9e9, 5.7e7, 4.2e6].map(rate), ["1.90 GB/s", "57 MB/s", "4.2 MB/s"]);
        assert_eq!([1.0, 12.34, 187.0].map(times), ["1.00 x", "12.3 x", "187 x"]);
        assert_eq!(percent(0.372), "37.2 %");
    }
}
