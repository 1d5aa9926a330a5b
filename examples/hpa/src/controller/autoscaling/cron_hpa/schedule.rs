// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! Says of a moment which run was the last and which is the next. Knows no cluster and no clock.

use std::cmp::Reverse;

use croner::Cron;
use croner::errors::CronError;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::api::autoscaling::v1alpha1::cron_hpa::{CronHPASpec, Job, Run};

/// The runs around a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// Also one that is due in this very second.
    pub last: Run,
    pub next: Run,
}

/// Why a spec does not say when to run.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    #[error("there is no time zone `{0}`")]
    TimeZone(String),
    #[error("the schedule of `{job}`: {reason}")]
    Schedule { job: String, reason: CronError },
    #[error("the schedule of `{0}` never comes")]
    Never(String),
    #[error("there is no job")]
    NoJob,
}

/// What was and what will be due.
pub fn runs(spec: &CronHPASpec, now: Timestamp) -> Result<Runs, Invalid> {
    let zone =
        TimeZone::get(&spec.time_zone).map_err(|_| Invalid::TimeZone(spec.time_zone.clone()))?;
    let now = now.to_zoned(zone);
    let around: Vec<(Run, Run)> = (spec.jobs.iter())
        .map(|job| around(job, &now))
        .collect::<Result<_, _>>()?;
    let (last, next): (Vec<Run>, Vec<Run>) = around.into_iter().unzip();
    // Of those that are due at the same time the largest: rather too much than too little.
    let last = last.into_iter().max_by_key(|run| (run.time.0, run.size));
    let next = next
        .into_iter()
        .min_by_key(|run| (run.time.0, Reverse(run.size)));
    let (Some(last), Some(next)) = (last, next) else {
        return Err(Invalid::NoJob);
    };
    Ok(Runs { last, next })
}

/// The last and the next run of a job.
fn around(job: &Job, now: &Zoned) -> Result<(Run, Run), Invalid> {
    let invalid = |reason| match reason {
        CronError::TimeSearchLimitExceeded => Invalid::Never(job.name.clone()),
        reason => Invalid::Schedule {
            job: job.name.clone(),
            reason,
        },
    };
    let cron: Cron = job.schedule.parse().map_err(invalid)?;
    let run = |time: Zoned| Run {
        time: Time(time.timestamp()),
        job: job.name.clone(),
        schedule: job.schedule.clone(),
        size: job.size,
    };
    let last = cron.find_previous_occurrence(now, true).map_err(invalid)?;
    let next = cron.find_next_occurrence(now, false).map_err(invalid)?;
    Ok((run(last), run(next)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Jobs, each as its schedule and its size.
    fn spec(time_zone: &str, jobs: &[(&str, i32)]) -> CronHPASpec {
        let jobs = jobs.iter().map(|(schedule, size)| {
            serde_json::json!({ "name": format!("to-{size}"), "schedule": schedule, "size": size })
        });
        let spec = serde_json::json!({
            "scaleTarget": { "name": "web" },
            "timeZone": time_zone,
            "jobs": jobs.collect::<Vec<_>>(),
        });
        serde_json::from_value(spec).unwrap()
    }

    /// The last and the next run, as `TIME SIZE`.
    fn told(spec: &CronHPASpec, now: &str) -> [String; 2] {
        let Runs { last, next } = runs(spec, now.parse().unwrap()).unwrap();
        [last, next].map(|run| format!("{} {}", run.time.0, run.size))
    }

    #[test]
    fn the_job_that_was_due_last_counts() {
        let spec = spec("UTC", &[("0 8 * * MON-FRI", 5), ("30 18 * * *", 1)]);
        // 2025-01-03 is a Friday.
        for (now, last, next) in [
            (
                "2025-01-03T07:59:59.999Z",
                "2025-01-02T18:30:00Z 1",
                "2025-01-03T08:00:00Z 5",
            ),
            (
                "2025-01-03T08:00:00Z",
                "2025-01-03T08:00:00Z 5",
                "2025-01-03T18:30:00Z 1",
            ),
            (
                "2025-01-03T08:00:00.001Z",
                "2025-01-03T08:00:00Z 5",
                "2025-01-03T18:30:00Z 1",
            ),
            // Nobody was there for the runs of two days: what counts is the last of them.
            (
                "2025-01-06T07:00:00Z",
                "2025-01-05T18:30:00Z 1",
                "2025-01-06T08:00:00Z 5",
            ),
        ] {
            assert_eq!(told(&spec, now), [last, next], "{now}");
        }
    }

    #[test]
    fn of_jobs_that_are_due_together_the_largest_counts() {
        for jobs in [
            [("0 8 * * *", 2), ("@hourly", 7)],
            [("@hourly", 7), ("0 8 * * *", 2)],
        ] {
            let spec = spec("UTC", &jobs);
            let [_, next] = told(&spec, "2025-01-03T07:30:00Z");
            let [last, _] = told(&spec, "2025-01-03T08:30:00Z");
            assert_eq!([last, next], ["2025-01-03T08:00:00Z 7"; 2]);
        }
    }

    #[test]
    fn time_is_told_where_the_spec_says() {
        let berlin = spec("Europe/Berlin", &[("0 8 * * *", 3)]);
        let expected = ["2025-03-29T07:00:00Z 3", "2025-03-30T06:00:00Z 3"];
        assert_eq!(
            told(&berlin, "2025-03-29T12:00:00Z"),
            expected,
            "summer time begins"
        );
        let nowhere = spec("Europe/Atlantis", &[("0 8 * * *", 3)]);
        let error = runs(&nowhere, Timestamp::UNIX_EPOCH).unwrap_err();
        assert_eq!(error.to_string(), "there is no time zone `Europe/Atlantis`");
    }

    #[test]
    fn a_time_that_the_clocks_skip_or_repeat_is_due_once() {
        let berlin = spec("Europe/Berlin", &[("30 2 * * *", 3)]);
        let [last, next] = told(&berlin, "2025-03-30T00:59:59Z");
        assert_eq!(
            [last, next],
            ["2025-03-29T01:30:00Z 3", "2025-03-30T01:00:00Z 3"]
        );
        let [last, next] = told(&berlin, "2025-10-26T00:45:00Z");
        assert_eq!(
            [last, next],
            ["2025-10-26T00:30:00Z 3", "2025-10-27T01:30:00Z 3"]
        );
    }

    #[test]
    fn says_what_is_wrong_with_a_schedule() {
        for (schedule, reason) in [
            ("61 * * * *", "the schedule of `to-1`: Component error: "),
            ("* * * *", "the schedule of `to-1`: Invalid pattern: "),
            ("0 0 30 2 *", "the schedule of `to-1` never comes"),
        ] {
            let start = Instant::now();
            let error = runs(&spec("UTC", &[(schedule, 1)]), Timestamp::UNIX_EPOCH).unwrap_err();
            assert!(error.to_string().starts_with(reason), "{error}");
            assert!(
                start.elapsed() < Duration::from_secs(2),
                "{:?}",
                start.elapsed()
            );
        }
    }
}
