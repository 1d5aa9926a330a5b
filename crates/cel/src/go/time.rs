//! Times and durations by the rules of Go's `time`. Dates are Gregorian for all years.

/// Parses a duration such as `1h30m`, as Go's `time.ParseDuration` does, in nanoseconds.
pub fn parse_duration(text: &str) -> Option<i64> {
    const MOST: u64 = 1 << 63;
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let whole = digits(rest);
        let mut value: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        rest = &rest[whole.len()..];
        let (mut fraction, mut scale) = ("", 1.0);
        if let Some(after) = rest.strip_prefix('.') {
            fraction = digits(after);
            rest = &after[fraction.len()..];
        }
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut numerator: u64 = 0;
        for digit in fraction.bytes() {
            if numerator > (MOST - 1) / 10 {
                break;
            }
            numerator = numerator * 10 + u64::from(digit - b'0');
            scale *= 10.0;
        }
        let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
        let unit: u64 = match &rest[..end] {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[end..];
        value = value.checked_mul(unit).filter(|value| *value <= MOST)?;
        if numerator > 0 {
            value += (numerator as f64 * (unit as f64 / scale)) as u64;
        }
        sum = sum.checked_add(value).filter(|sum| *sum <= MOST)?;
    }
    if negative { Some((sum as i64).wrapping_neg()) } else { i64::try_from(sum).ok() }
}

fn digits(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()]
}

/// `true` for a valid date such as `2006-01-02`.
pub fn is_date(text: &str) -> bool {
    parse_date(text).is_some()
}

/// Parses `2006-01-02` to days since 1970.
pub fn parse_date(text: &str) -> Option<i64> {
    if !has_shape(text, "0000-00-00") {
        return None;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days).contains(&day).then(|| days_of(year, month, day))
}

/// Parses a time to seconds since 1970 and nanoseconds. Source: `time.Parse` with the layout `time.RFC3339`.
pub fn parse_rfc3339(text: &str) -> Option<(i64, u32)> {
    let (moment, mut rest) = text.split_at_checked(19)?;
    if !has_shape(&moment[10..], "T00:00:00") {
        return None;
    }
    let days = parse_date(&moment[..10])?;
    let number = |from: usize| moment[from..from + 2].parse::<i64>().ok();
    let (hour, minute, second) = (number(11)?, number(14)?, number(17)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let fraction = digits(fraction);
        rest = &rest[1 + fraction.len()..];
        if fraction.is_empty() {
            return None;
        }
        nanos = format!("{fraction:0<9}")[..9].parse().ok()?;
    }
    let offset = if rest == "Z" { 0 } else { parse_offset(rest)? };
    Some((days * 86_400 + hour * 3_600 + minute * 60 + second - offset, nanos))
}

/// Parses an offset such as `+01:00` to seconds.
pub fn parse_offset(text: &str) -> Option<i64> {
    if !has_shape(text, "+00:00") && !has_shape(text, "-00:00") {
        return None;
    }
    let (hours, minutes) = (text[1..3].parse::<i64>().ok()?, text[4..6].parse::<i64>().ok()?);
    let seconds = hours * 3_600 + minutes * 60;
    (hours <= 24 && minutes < 60).then_some(if text.starts_with('-') { -seconds } else { seconds })
}

/// Compares a text with a shape, in which `0` matches any digit.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(c, shape)| if shape == b'0' { u8::is_ascii_digit(&c) } else { c == shape };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

/// Formats a time as `time.RFC3339Nano` does, in UTC.
pub fn format_rfc3339(seconds: i64, nanos: u32) -> String {
    let Calendar { year, month, day, .. } = calendar(seconds);
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let fraction = match nanos {
        0 => String::new(),
        nanos => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

pub struct Calendar {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
    /// Day of the year, from 1.
    pub day_of_year: i64,
    /// 0 (Sunday) to 6.
    pub weekday: i64,
}

pub fn calendar(seconds: i64) -> Calendar {
    let days = seconds.div_euclid(86_400);
    // Years are counted from March, so that the leap day is the last day of a year; see `days_of`.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let from_march = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * from_march + 2) / 153;
    let day = from_march - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Calendar { year, month, day, day_of_year: days - days_of(year, 1, 1) + 1, weekday: (days + 4).rem_euclid(7) }
}

/// Days from 1970 to a date. Source: Howard Hinnant's `days_from_civil`.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + from_march;
    era * 146_097 + of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_durations_as_go_does() {
        for (text, nanos) in [
            ("0", Some(0)),
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            (".5m", Some(30_000_000_000)),
            ("1.s", Some(1_000_000_000)),
            ("9223372036854775807ns", Some(i64::MAX)),
            ("-9223372036854775808ns", Some(i64::MIN)),
            ("9223372036854775808ns", None),
            ("1 h", None),
            ("1d", None),
            ("", None),
            (".s", None),
            ("3", None),
        ] {
            assert_eq!(parse_duration(text), nanos, "{text}");
        }
    }

    #[test]
    fn reads_and_writes_times() {
        for text in
            ["1970-01-01T00:00:00Z", "2024-02-29T23:59:59.123456789Z", "0001-01-01T00:00:00Z", "9999-12-31T12:00:00.5Z"]
        {
            let (seconds, nanos) = parse_rfc3339(text).unwrap();
            assert_eq!(format_rfc3339(seconds, nanos), text);
        }
        assert_eq!(parse_rfc3339("1970-01-01T01:00:00+01:00"), Some((0, 0)));
        for text in ["2023-02-29T00:00:00Z", "2024-01-01", "2024-01-01T24:00:00Z", "2024-01-01 00:00:00Z"] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
        let day = calendar(parse_rfc3339("2024-12-31T00:00:00Z").unwrap().0);
        assert_eq!((day.day_of_year, day.weekday), (366, 2));
    }
}
