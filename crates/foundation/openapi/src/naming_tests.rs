//! Names of tools: where they come from, and that they are unique, legal and stable.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{GOOD, LONGEST, names};
use crate::model::{Method, Operation};

fn operation(method: Method, path: &str, id: Option<&str>) -> Operation {
    Operation {
        at: String::new(),
        method,
        path: path.to_owned(),
        id: id.map(str::to_owned),
        tags: Vec::new(),
        summary: None,
        description: None,
        deprecated: false,
        servers: Vec::new(),
        parameters: Vec::new(),
        body: None,
        answer: None,
        security: Vec::new(),
        definitions: BTreeMap::new(),
    }
}

fn name(method: Method, path: &str, id: Option<&str>) -> String {
    names(&[operation(method, path, id)]).remove(0)
}

#[test]
fn a_name_comes_from_the_id_or_else_from_method_and_path() {
    for (path, id, expected) in [
        ("/pets", Some("listPets"), "list_pets"),
        ("/pets", Some("users/list-followed_by.me"), "users_list_followed_by_me"),
        ("/pets", Some("getHTTPStatusV2"), "get_http_status_v2"),
        ("/pets/{petId}/toys", None, "get_pets_by_pet_id_toys"),
        ("/pets/{id}.json", None, "get_pets_by_id_json"),
        ("/", None, "get_root"),
        ("/pets", Some("2fa"), "get_2fa"),
        ("/pets", Some("__"), "get_pets"),
        ("/pets", Some("列表"), "get_pets"),
    ] {
        assert_eq!(name(Method::Get, path, id), expected, "{path} {id:?}");
    }
}

/// FastMCP cuts names and numbers them in the order of appearance, so that another order renames tools; of what follows `__`
/// nothing is left.
#[test]
fn names_that_meet_get_a_hash_and_never_a_number() {
    let same = [operation(Method::Get, "/a", Some("list__pets")), operation(Method::Get, "/b", Some("listPets"))];
    let forward = names(&same);
    let backward = names(&[same[1].clone(), same[0].clone()]);
    assert_eq!([&forward[0], &forward[1]], [&backward[1], &backward[0]]);
    assert!(
        forward.iter().all(|name| name.starts_with("list_pets_") && name.len() == "list_pets_".len() + 6),
        "{forward:?}"
    );
}

/// vercel/eve 3255, mcp-use 1885: a suffix made the name longer than 64.
#[test]
fn long_names_are_shortened_by_words_and_stay_short_with_a_hash() {
    let id = "CreateTheOrganizationMembershipInvitationForExternalCollaboratorsOfAllRepositories";
    let long = name(Method::Post, "/x", Some(id));
    assert!(long.len() <= GOOD && long.starts_with("create_") && long.ends_with("_repositories"), "{long}");
    let two = [operation(Method::Post, "/x", Some(id)), operation(Method::Put, "/x", Some(id))];
    for name in names(&two) {
        assert!(name.len() <= GOOD, "{name}");
    }
}

#[test]
fn a_name_that_is_whole_is_not_given_up_for_one_that_was_shortened() {
    let long = "create_the_organization_membership_invitation";
    let short = name(Method::Post, "/x", Some(long));
    let both = names(&[operation(Method::Post, "/x", Some(long)), operation(Method::Post, "/y", Some(&short))]);
    assert_eq!(both[1], short);
    assert_ne!(both[0], short);
}

proptest! {
    #[test]
    fn names_are_unique_legal_and_stable_under_reordering(
        ids in prop::collection::vec(prop::option::of("[a-cA-C_/{}0é ]{0,90}"), 1..40),
        seed in any::<u64>(),
    ) {
        let operations: Vec<Operation> = ids.iter().enumerate()
            .map(|(index, id)| operation(Method::Get, &format!("/p{index}/{{x}}"), id.as_deref()))
            .collect();
        let given = names(&operations);
        for name in &given {
            prop_assert!(!name.is_empty() && name.len() <= LONGEST, "{name}");
            prop_assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
            prop_assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        }
        let distinct: std::collections::BTreeSet<_> = given.iter().collect();
        prop_assert_eq!(distinct.len(), given.len());

        let mut order: Vec<usize> = (0..operations.len()).collect();
        let mut state = seed | 1;
        order.sort_by_cached_key(|index| { state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1); state ^ (*index as u64) });
        let shuffled: Vec<Operation> = order.iter().map(|index| operations[*index].clone()).collect();
        for (at, name) in names(&shuffled).iter().enumerate() {
            prop_assert_eq!(name, &given[order[at]]);
        }
    }
}
