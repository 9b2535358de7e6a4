//! Run folders, logs, signals, models and model servers.
