//! Where the metadata of an authorization server may be: the OAuth location, and those of OpenID, in the order laid down.

use super::steps::{Document, is_at};
use crate::basic::authorization::Address;

/// An issuer's identifier and its metadata's locations.
pub(super) struct Issuer<'t> {
    /// As the resource's metadata has it.
    pub(super) name: &'t str,
    /// Targets at its host, first the one to be asked first.
    pub(super) locations: Vec<String>,
}

impl<'t> Issuer<'t> {
    /// `None` for what is not a URL.
    pub(super) fn of(name: &'t str) -> Option<Self> {
        let address = Address::of(name)?;
        let path = address.target.split('?').next().unwrap_or_default().trim_end_matches('/');
        let (oauth, openid) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
        let mut locations = vec![format!("{oauth}{path}"), format!("{openid}{path}")];
        if !path.is_empty() {
            locations.push(format!("{path}{openid}"));
        }
        Some(Self { name, locations })
    }

    /// Which of the locations a fetch asked.
    pub(super) fn place(&self, document: &Document<'_, '_>) -> Option<usize> {
        let path = document.x.path().filter(|_| is_at(self.name, document.x))?;
        let same = |location: &String| location.trim_end_matches('/') == path.trim_end_matches('/');
        self.locations.iter().position(same)
    }
}

#[cfg(test)]
mod tests {
    use super::Issuer;

    #[test]
    fn locations_follow_the_issuers_path() {
        let of = |name| Issuer::of(name).expect("a URL").locations;
        let root = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
        assert_eq!(of("https://a.example"), root);
        assert_eq!(of("https://a.example/"), root);
        let tenant = [
            "/.well-known/oauth-authorization-server/t/1",
            "/.well-known/openid-configuration/t/1",
            "/t/1/.well-known/openid-configuration",
        ];
        assert_eq!(of("https://a.example/t/1"), tenant);
        assert!(Issuer::of("a.example").is_none());
    }
}
