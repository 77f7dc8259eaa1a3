//! Records which parts of the server the cases use.

use std::sync::{Mutex, PoisonError};

use client::Client;

use crate::requests::Request;
use crate::test::coverage::{Coverage, Surface, Touched, surface};

/// Records which parts of the server the cases use. The first run reads what the server declares.
#[derive(Default)]
pub(super) struct CoverageRecorder {
    touched: Mutex<Touched>,
    surface: Mutex<Option<Surface>>,
}

impl CoverageRecorder {
    pub(super) fn record(&self, request: &Request) {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).record(request);
    }

    /// Reads what the server declares, once.
    pub(super) async fn read_surface(&self, client: &Client) {
        if self.surface.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            let surface = surface(client).await;
            *self.surface.lock().unwrap_or_else(PoisonError::into_inner) = Some(surface);
        }
    }

    pub(super) fn finish(self) -> Option<Coverage> {
        let surface = self.surface.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Some(self.touched.into_inner().unwrap_or_else(PoisonError::into_inner).of(surface))
    }
}
