//! The client of a request, with what servers learn of it and what is removed from what it gets.

use net::service::{Call, RpcError};

use super::{Inner, client_of};
use crate::audit::Trail;
use crate::upstream::Client;

impl Inner {
    /// Who sends a request; the error where its token does not say what servers need.
    pub(super) fn client(&self, call: &Call, trail: &Trail) -> Result<Client, RpcError> {
        let mut client = client_of(call)?;
        self.shaping.shape(&mut client, trail)?;
        Ok(client)
    }
}
