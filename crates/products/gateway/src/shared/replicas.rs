//! Where gateways are, each under a lease that it renews. What an address is worth, callers decide.

use super::{Away, LEASE, PREFIX, SharedStore, millis, scripts};

impl SharedStore {
    /// Says where this gateway is, for as long as a lease. Returns the store's time in milliseconds.
    pub(crate) async fn announce(&self, record: &str) -> Result<u64, Away> {
        let mut command = scripts::command(scripts::ANNOUNCE, &[&key(self.id())]);
        command.arg(record).arg(millis(LEASE));
        self.run(&command).await
    }

    /// What a gateway said of itself; nothing where its lease is over.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<String>, Away> {
        self.run(&scripts::command(scripts::FIND, &[&key(id)])).await
    }

    /// This gateway is no longer there.
    pub(crate) async fn leave(&self) -> Result<(), Away> {
        self.run::<i64>(&scripts::command(scripts::LEAVE, &[&key(self.id())])).await.map(|_| ())
    }
}

fn key(id: &str) -> Vec<u8> {
    [PREFIX.as_bytes(), b"replica:", id.as_bytes()].concat()
}
