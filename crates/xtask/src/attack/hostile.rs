pub(super) mod stdio { pub(crate) fn play(_: &[String]) -> crate::Verdict { Ok(true) } }
