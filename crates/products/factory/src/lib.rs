//! Calls REST APIs by their OpenAPI description ([`openapi`]): sends the request that a tool call becomes, authorizes it,
//! repeats it where that does no harm, follows pages, and shapes the answer.
