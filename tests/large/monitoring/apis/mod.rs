pub mod monitoring;
