//! `proof scan --classes`: which rules cover which class of vulnerability in which phase.

use crate::args::output::Format;
use crate::args::scan::ScanArgs;
use crate::exit::{Exit, usage};
use crate::format::scan::classes;

/// Prints the table.
pub(super) fn print(args: &ScanArgs) -> Result<Exit, Exit> {
    let text = match args.format {
        Format::Human => classes::human(),
        Format::Markdown => classes::markdown(),
        _ => return Err(usage("--classes is printed as text or Markdown", "use --format human or --format markdown")),
    };
    args.to.write(&text)?;
    Ok(Exit::Clean)
}
