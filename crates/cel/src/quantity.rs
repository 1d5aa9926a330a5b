//! Quantities: `100m`, `1.5Gi`, `1e3`.
//!
//! Source: `pkg/api/resource/quantity.go` of k8s.io/apimachinery. Its two representations are observable: a quantity
//! stored as a scaled integer may be an integer, one stored as a decimal never is.

use std::cmp::Ordering;

use super::value::{Failure, error};

#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    number: Number,
    is_decimal: bool,
}

/// `mantissa * 10^exponent`
#[derive(Clone, Copy, Debug)]
struct Number {
    mantissa: i128,
    exponent: i32,
}

/// The exponent of the smallest unit, a power of ten.
const NANO: i32 = -9;

fn too_large<T>() -> Result<T, Failure> {
    Err(Failure::Unknown("a quantity with so many digits".to_owned()))
}

impl Quantity {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        const WRONG: &str =
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
        if text.is_empty() {
            return error(WRONG);
        }
        let (negative, unsigned) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (whole, rest) = unsigned.split_at(digits(unsigned));
        let whole = whole.trim_start_matches('0');
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        if unsigned.trim_start_matches('0').is_empty() {
            // A sign without digits is zero, too.
            return Ok(Self::integer(0));
        }
        let letters = suffix.len() - suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c)).len();
        let exponent_digits = suffix[letters..].strip_prefix(['-', '+']).unwrap_or(&suffix[letters..]);
        if !exponent_digits.bytes().all(|c| c.is_ascii_digit()) {
            return error(WRONG);
        }
        let (base, exponent) = match suffix {
            "n" => (10, -9),
            "u" => (10, -6),
            "m" => (10, -3),
            "" => (10, 0),
            "k" => (10, 3),
            "M" => (10, 6),
            "G" => (10, 9),
            "T" => (10, 12),
            "P" => (10, 15),
            "E" => (10, 18),
            "Ki" => (2, 10),
            "Mi" => (2, 20),
            "Gi" => (2, 30),
            "Ti" => (2, 40),
            "Pi" => (2, 50),
            "Ei" => (2, 60),
            _ => match suffix.strip_prefix(['e', 'E']).map(str::parse::<i64>) {
                Some(Ok(exponent)) => match i32::try_from(exponent) {
                    Ok(exponent) if exponent.abs() < 1_000 => (10, exponent),
                    _ => return too_large(),
                },
                _ => return error("unable to parse quantity's suffix"),
            },
        };
        let whole = if whole.is_empty() { "0" } else { whole };
        let (precision, scale) = if base == 10 {
            (18 - (whole.len() + fraction.len()) as i32, exponent - fraction.len() as i32)
        } else if fraction.is_empty() {
            (15 - whole.len() as i32 - exponent * 3 / 10 - 1, 0)
        } else {
            (-1, 0)
        };
        let Ok(mut mantissa) = format!("{whole}{fraction}").parse::<i128>() else { return too_large() };
        if base == 2 {
            let Some(shifted) = mantissa.checked_mul(1 << exponent) else { return too_large() };
            mantissa = shifted;
        }
        let sign = if negative { -1 } else { 1 };
        if precision >= 0 && scale >= NANO && i64::try_from(mantissa).is_ok() {
            let number = Number { mantissa: sign * mantissa, exponent: scale };
            return Ok(Self { number, is_decimal: false });
        }
        if unsigned.starts_with('.') && fraction.is_empty() {
            return error("unable to parse numeric part of quantity");
        }
        let exponent = if base == 10 { scale } else { -(fraction.len() as i32) };
        let mut number = Number { mantissa, exponent }.rounded_up()?;
        if base == 2 && number.compare(&Number { mantissa: i64::MAX.into(), exponent: 0 })? == Ordering::Greater {
            number = Number { mantissa: i64::MAX.into(), exponent: 0 };
        }
        number.mantissa *= sign;
        Ok(Self { number, is_decimal: true })
    }

    pub fn integer(value: i64) -> Self {
        Self { number: Number { mantissa: value.into(), exponent: 0 }, is_decimal: false }
    }

    pub fn sign(&self) -> i64 {
        self.number.mantissa.signum() as i64
    }

    pub fn compare(&self, other: &Self) -> Result<Ordering, Failure> {
        self.number.compare(&other.number)
    }

    /// The quantity as an integer. `None` even for some whole numbers, such as `1000m`.
    pub fn as_integer(&self) -> Option<i64> {
        if self.number.mantissa == 0 && !self.is_decimal {
            return Some(0);
        }
        if self.is_decimal || self.number.exponent < 0 {
            return None;
        }
        i64::try_from(self.number.scaled_to(0).ok()?).ok()
    }

    pub fn as_float(&self) -> f64 {
        let base = self.number.mantissa as f64;
        if self.number.exponent == 0 { base } else { base * pow10(self.number.exponent) }
    }

    pub fn add(&self, other: &Self) -> Result<Self, Failure> {
        let (left, right) = (self.number, other.number);
        if !self.is_decimal && !other.is_decimal {
            if left.mantissa == 0 {
                return Ok(*other);
            }
            if right.mantissa == 0 {
                return Ok(*self);
            }
        }
        let exponent = left.exponent.min(right.exponent);
        let (left, right) = (left.scaled_to(exponent)?, right.scaled_to(exponent)?);
        let Some(mantissa) = left.checked_add(right) else { return too_large() };
        let fits = [left, right, mantissa].iter().all(|part| i64::try_from(*part).is_ok());
        let is_decimal = self.is_decimal || other.is_decimal || !fits;
        Ok(Self { number: Number { mantissa, exponent }, is_decimal })
    }

    pub fn sub(&self, other: &Self) -> Result<Self, Failure> {
        let negated = Number { mantissa: -other.number.mantissa, ..other.number };
        self.add(&Self { number: negated, ..*other })
    }
}

impl Number {
    /// Rounds away from zero to a multiple of 1 nano.
    fn rounded_up(self) -> Result<Self, Failure> {
        if self.exponent >= NANO || self.mantissa == 0 {
            return Ok(self);
        }
        let Some(divisor) = 10_i128.checked_pow((NANO - self.exponent) as u32) else {
            return Ok(Self { mantissa: 1, exponent: NANO });
        };
        Ok(Self { mantissa: (self.mantissa + divisor - 1) / divisor, exponent: NANO })
    }

    /// The mantissa for a smaller or equal exponent.
    fn scaled_to(self, exponent: i32) -> Result<i128, Failure> {
        let factor = 10_i128.checked_pow((self.exponent - exponent) as u32);
        match factor.and_then(|factor| self.mantissa.checked_mul(factor)) {
            Some(mantissa) => Ok(mantissa),
            None if self.mantissa == 0 => Ok(0),
            None => too_large(),
        }
    }

    fn compare(&self, other: &Self) -> Result<Ordering, Failure> {
        let signs = self.mantissa.signum().cmp(&other.mantissa.signum());
        if signs != Ordering::Equal || self.mantissa == 0 {
            return Ok(signs);
        }
        let exponent = self.exponent.min(other.exponent);
        match (self.scaled_to(exponent), other.scaled_to(exponent)) {
            (Ok(left), Ok(right)) => Ok(left.cmp(&right)),
            // Only one of them overflows, so it has the greater magnitude and its sign decides.
            (Ok(_), Err(_)) => Ok(0.cmp(&other.mantissa)),
            (Err(_), Ok(_)) => Ok(self.mantissa.cmp(&0)),
            (Err(failure), Err(_)) => Err(failure),
        }
    }
}

/// Source: `math.Pow10`, exact as Go's table.
fn pow10(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().expect("a number")
}
