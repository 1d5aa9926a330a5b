//! Accessors of timestamps and durations.
//!
//! Source: cel-go's `common/types/timestamp.go` and `duration.go`. Times are in UTC if no zone is given.

use super::super::value::{Failure, Outcome, Timestamp, Value, error};
use super::unknown;
use crate::go::time::{self, Calendar};

pub fn call(name: &str, args: &[Value]) -> Option<Outcome> {
    match args {
        [Value::Timestamp(timestamp)] => of_timestamp(name, *timestamp, 0),
        [Value::Timestamp(timestamp), Value::String(zone)] if name.starts_with("get") => match offset(zone) {
            Ok(offset) => of_timestamp(name, *timestamp, offset),
            Err(failure) => Some(Err(failure)),
        },
        [Value::Duration(nanos)] => {
            let unit = match name {
                "getHours" => 3_600_000_000_000,
                "getMinutes" => 60_000_000_000,
                "getSeconds" => 1_000_000_000,
                "getMilliseconds" => 1_000_000,
                _ => return None,
            };
            Some(Ok(Value::Int(nanos / unit)))
        }
        _ => None,
    }
}

fn of_timestamp(name: &str, timestamp: Timestamp, offset: i64) -> Option<Outcome> {
    let seconds = timestamp.seconds + offset;
    let Calendar { year, month, day, day_of_year, weekday } = time::calendar(seconds);
    let of_day = seconds.rem_euclid(86_400);
    Some(Ok(Value::Int(match name {
        "getFullYear" => year,
        "getMonth" => month - 1,
        "getDayOfYear" => day_of_year - 1,
        "getDayOfMonth" => day - 1,
        "getDate" => day,
        "getDayOfWeek" => weekday,
        "getHours" => of_day / 3_600,
        "getMinutes" => of_day / 60 % 60,
        "getSeconds" => of_day % 60,
        "getMilliseconds" => i64::from(timestamp.nanos) / 1_000_000,
        _ => return None,
    })))
}

/// Offset in seconds of `UTC` or `-08:00`. Other names need a time zone database, which this crate does not include.
fn offset(zone: &str) -> Result<i64, Failure> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return if matches!(zone, "" | "UTC") { Ok(0) } else { unknown(format!("the time zone `{zone}`")) };
    };
    match (hours.parse::<i64>(), minutes.parse::<i64>()) {
        (Ok(hours), Ok(minutes)) if hours.abs() < 1_000_000 && minutes.abs() < 1_000_000 => {
            let minutes = if zone.starts_with('-') { hours * 60 - minutes } else { hours * 60 + minutes };
            Ok(minutes * 60)
        }
        _ => error(format!("no time zone: {zone:?}")),
    }
}
