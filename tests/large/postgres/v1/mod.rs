pub mod backup;
pub mod cluster;
pub mod pooler;

pub use backup::{BackupConfiguration, Retention};
pub use cluster::{PostgresSpec, PostgresStatus, ReplicationMode};
