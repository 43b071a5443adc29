//! Records in memory, for tests and for hosts that show them.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::record::{Record, Recorder};

/// Keeps the newest records in memory.
#[derive(Debug)]
pub struct Memory {
    records: Mutex<VecDeque<Record>>,
    most: usize,
}

impl Memory {
    /// Keeps at most so many; the oldest go first.
    pub fn new(most: usize) -> Self {
        Self { records: Mutex::default(), most }
    }

    /// What is kept now, oldest first.
    pub fn records(&self) -> Vec<Record> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Record>> {
        match self.records.lock() {
            Ok(records) => records,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

impl Recorder for Memory {
    fn record(&self, record: Record) {
        let mut records = self.lock();
        if records.len() >= self.most {
            records.pop_front();
        }
        records.push_back(record);
    }
}
