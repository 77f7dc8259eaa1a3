//! The resource server's half of OAuth: which access tokens a server accepts, and where the keys come from that they are
//! signed with. Knows no MCP method.

mod accepted;
mod introspected;
mod keys;
mod own_address;
mod token;

pub use self::accepted::AcceptedTokens;
pub use self::introspected::{IntrospectedTokens, Introspection, IntrospectionRefusal};
pub use self::keys::{Keys, Source};
pub use self::own_address::authorities;
pub use self::token::{TokenFlaw, TokenRequirements, access, carried, grant, granted, in_time, text, vouched};
