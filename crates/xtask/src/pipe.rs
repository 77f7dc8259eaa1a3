//! A closed stdout (`cargo xtask peers --help | head -1`) is not an error, and nothing is printed about it.
//! Tasks are unwound, so that what they started ends as it does after any other panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};

/// The reader of stdout is gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// Runs a task until it ends or stdout is closed. Any other panic continues.
pub(crate) fn guarded<T>(task: impl FnOnce() -> T) -> Result<T, Closed> {
    let usual = take_hook();
    set_hook(Box::new(move |panic| {
        if !is_ours(panic.payload()) {
            usual(panic);
        }
    }));
    catch_unwind(AssertUnwindSafe(task)).map_err(|panic| if is_ours(&*panic) { Closed } else { resume_unwind(panic) })
}

/// What `println!` panics with.
fn is_ours(panic: &(dyn Any + Send)) -> bool {
    let said = panic.downcast_ref::<String>().map_or("", String::as_str);
    said.starts_with("failed printing to std") && said.contains("Broken pipe")
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_a_closed_pipe_is_not_an_error() {
        assert!(is_ours(&"failed printing to stdout: Broken pipe (os error 32)".to_owned()));
        assert!(!is_ours(&"failed printing to stdout: No space left on device (os error 28)".to_owned()));
        assert!(!is_ours(&"no Broken pipe".to_owned()));
    }
}
