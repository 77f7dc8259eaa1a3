//! Results that are cached.
