//! Metrics of this process, read from /proc, with the standard names of Prometheus.

use std::fmt::Error;

use procfs::ProcResult;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Reads the metrics at each scrape; none if /proc is not mounted.
#[derive(Debug)]
pub struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), Error> {
        let Ok((cpu, [start, memory, files])) = read() else {
            return Ok(());
        };
        let mut put = |name, help, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        put("process_cpu_seconds", "CPU time", &cpu)?;
        put("process_start_time_seconds", "Start time, since 1970", &start)?;
        put("process_resident_memory_bytes", "Resident memory", &memory)?;
        put("process_open_fds", "Open file descriptors", &files)
    }
}

fn read() -> ProcResult<(ConstCounter<f64>, [ConstGauge<f64>; 3])> {
    let process = procfs::process::Process::myself()?;
    let stat = process.stat()?;
    let seconds = |ticks: u64| ticks as f64 / procfs::ticks_per_second() as f64;
    let start = procfs::boot_time_secs()? as f64 + seconds(stat.starttime);
    let memory = (stat.rss * procfs::page_size()) as f64;
    let files = process.fd_count()? as f64;
    Ok((ConstCounter::new(seconds(stat.utime + stat.stime)), [start, memory, files].map(ConstGauge::new)))
}
