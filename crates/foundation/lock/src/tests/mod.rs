//! Vectors of the standards, drift class by class, locks read back, and manifests tampered with.

mod a2a;
mod admission;
mod canonical;
mod drift;
mod files;
mod recordings;
mod signatures;
mod tampering;
mod targets;
