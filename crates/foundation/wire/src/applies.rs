//! Where something applies: a range of revisions, over some transports. One meaning for probes, scenarios and faults.

use std::fmt;

use crate::{Era, Revision, Transport};

/// A range of revisions and the transports over which something applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applies {
    since: Revision,
    until: Revision,
    /// One bit for each transport.
    transports: u8,
}

const fn bit(transport: Transport) -> u8 {
    1 << transport as u8
}

impl Applies {
    /// At every revision, over every transport.
    pub const EVERYWHERE: Self = Self { since: Revision::R2024_11_05, until: Revision::NEWEST, transports: 0b1111 };

    /// Restricts it to revisions from `since` on.
    pub const fn since(self, since: Revision) -> Self {
        Self { since, ..self }
    }

    /// Restricts it to revisions up to `until`.
    pub const fn until(self, until: Revision) -> Self {
        Self { until, ..self }
    }

    /// Restricts it to one era.
    pub const fn era(self, era: Era) -> Self {
        match era {
            Era::Legacy => self.until(Revision::NEWEST_LEGACY),
            Era::Modern => self.since(Revision::R2026_07_28),
        }
    }

    /// Restricts it to some transports.
    pub const fn on(self, transports: &[Transport]) -> Self {
        let (mut on, mut rest) = (0, transports);
        while let [first, others @ ..] = rest {
            on |= bit(*first);
            rest = others;
        }
        Self { transports: on, ..self }
    }

    /// Excludes a transport.
    pub const fn except(self, transport: Transport) -> Self {
        Self { transports: self.transports & !bit(transport), ..self }
    }

    /// The first revision.
    pub const fn first(&self) -> Revision {
        self.since
    }

    /// The last revision.
    pub const fn last(&self) -> Revision {
        self.until
    }

    /// Whether it applies nowhere.
    pub const fn is_empty(&self) -> bool {
        !self.until.at_least(self.since) || self.transports == 0
    }

    /// Whether it applies at `revision` over `transport`.
    pub const fn covers(&self, revision: Revision, transport: Transport) -> bool {
        revision.at_least(self.since) && self.until.at_least(revision) && self.runs_on(transport)
    }

    /// Whether it applies over `transport`, at whatever revision.
    pub const fn runs_on(&self, transport: Transport) -> bool {
        self.transports & bit(transport) != 0
    }

    /// Whether it applies at any revision of `era`.
    pub fn touches(&self, era: Era) -> bool {
        self.since.era() <= era && era <= self.until.era()
    }

    /// The transport, if there is only one.
    pub fn only_transport(&self) -> Option<Transport> {
        Transport::ALL.into_iter().find(|transport| self.transports == bit(*transport))
    }
}

impl fmt::Display for Applies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on: Vec<&str> =
            Transport::ALL.into_iter().filter(|one| self.runs_on(*one)).map(Transport::as_str).collect();
        let missing = Transport::ALL.into_iter().find(|one| !self.runs_on(*one));
        match (on.len(), missing) {
            (_, None) => f.write_str("any transport")?,
            (3, Some(missing)) => write!(f, "any transport but {missing}")?,
            _ => f.write_str(&on.join(", "))?,
        }
        match (self.since, self.until) {
            (Revision::R2024_11_05, Revision::NEWEST) => f.write_str(", any revision"),
            (Revision::R2024_11_05, Revision::NEWEST_LEGACY) => f.write_str(", legacy era"),
            (Revision::NEWEST, Revision::NEWEST) => f.write_str(", modern era"),
            (since, until) if since == until => write!(f, ", {since}"),
            (Revision::R2024_11_05, until) => write!(f, ", up to {until}"),
            (since, Revision::NEWEST) => write!(f, ", from {since}"),
            (since, until) => write!(f, ", {since} to {until}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Applies;
    use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
    use crate::{Era, Transport};

    #[test]
    fn covers_its_revisions_and_transports_alone() {
        let applies =
            Applies::EVERYWHERE.since(R2025_06_18).until(R2025_11_25).on(&[Transport::Stdio, Transport::WebSocket]);
        assert!(applies.covers(R2025_06_18, Transport::Stdio) && applies.covers(R2025_11_25, Transport::WebSocket));
        assert!(!applies.covers(R2025_03_26, Transport::Stdio) && !applies.covers(R2026_07_28, Transport::Stdio));
        assert!(!applies.covers(R2025_06_18, Transport::StreamableHttp));
        assert!(applies.touches(Era::Legacy) && !applies.touches(Era::Modern));
        assert!(
            Applies::EVERYWHERE.touches(Era::Modern) && !applies.era(Era::Modern).covers(R2025_11_25, Transport::Stdio)
        );
        assert_eq!(applies.only_transport(), None);
        assert_eq!(applies.except(Transport::Stdio).only_transport(), Some(Transport::WebSocket));
        assert!(applies.era(Era::Modern).is_empty() && applies.on(&[]).is_empty() && !applies.is_empty());
    }

    #[test]
    fn reads_as_words() {
        let all = Applies::EVERYWHERE;
        assert_eq!(all.to_string(), "any transport, any revision");
        assert_eq!(all.except(Transport::Stdio).era(Era::Legacy).to_string(), "any transport but stdio, legacy era");
        assert_eq!(all.on(&[Transport::StreamableHttp]).era(Era::Modern).to_string(), "http, modern era");
        let two = all.on(&[Transport::StreamableHttp, Transport::Stdio]);
        assert_eq!(two.since(R2025_06_18).to_string(), "stdio, http, from 2025-06-18");
        assert_eq!(two.until(R2025_03_26).to_string(), "stdio, http, up to 2025-03-26");
        assert_eq!(two.since(R2025_03_26).until(R2025_11_25).to_string(), "stdio, http, 2025-03-26 to 2025-11-25");
        assert_eq!(two.since(R2025_11_25).until(R2025_11_25).to_string(), "stdio, http, 2025-11-25");
    }
}
