//! What is removed from what servers say. Values only.

/// What is removed from what servers say before clients get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizeSettings {
    /// Characters that nobody sees, and escapes of terminals.
    pub hidden: bool,
    /// Secrets, by their names and shapes.
    pub secrets: bool,
    /// Personal data.
    pub personal: Vec<Personal>,
    /// Records of other tenants.
    pub tenants: Option<TenantRecords>,
    /// Texts that read like instructions to a model.
    pub instructions: Option<Instructions>,
    /// The largest answer, in bytes. A larger one is withheld.
    pub result_bytes: usize,
    /// The longest text of a content block, in bytes. A longer one is cut.
    pub text_bytes: Option<usize>,
}

impl Default for SanitizeSettings {
    fn default() -> Self {
        let (personal, tenants, instructions, text_bytes) = (Vec::new(), None, None, None);
        Self { hidden: true, secrets: true, personal, tenants, instructions, result_bytes: 4 << 20, text_bytes }
    }
}

/// What becomes of a text that reads like instructions to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// It stays, after a warning.
    Mark,
    /// A notice stands in its place.
    Withhold,
}

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Personal {
    /// Addresses of e-mail.
    Email,
    /// Telephone numbers with their country code.
    Phone,
    /// International bank account numbers with a correct checksum.
    Iban,
    /// Numbers of payment cards with a correct checksum.
    Card,
}

impl Personal {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Email, Self::Phone, Self::Iban, Self::Card];

    /// Its word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Iban => "iban",
            Self::Card => "card",
        }
    }

    /// What stands in its place.
    pub const fn mask(self) -> &'static str {
        match self {
            Self::Email => "[email]",
            Self::Phone => "[phone]",
            Self::Iban => "[iban]",
            Self::Card => "[card]",
        }
    }
}

/// How the tenant of a record is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantRecords {
    /// Members that name the tenant of the object they are in.
    pub fields: Vec<String>,
    /// The claim of tokens that names the client's tenant.
    pub claim: String,
}
