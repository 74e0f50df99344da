//! The scenario of README.md, by the Rust client of openapi-generator.
#![allow(deprecated)] // get_pet, until its end
use openapi::apis::configuration::Configuration;
use openapi::apis::{animals_api, events_api, store_api, Error};
use openapi::models::{OrderInput, OrderStatus, PetEvent, PetInput, PetStatus};

const NOBODY: i64 = (1 << 53) - 1;

fn client(key: String) -> Configuration {
    let mut configuration = Configuration::new();
    configuration.base_path = std::env::var("PETSTORE_URL").unwrap() + "/v1";
    configuration.bearer_access_token = Some(key);
    configuration
}

fn refused<T: std::fmt::Debug, E: std::fmt::Debug>(status: u16, code: &str, answer: Result<T, Error<E>>) {
    match answer {
        Err(Error::ResponseError(error)) => {
            assert_eq!(error.status, status);
            assert!(error.content.contains(&format!("\"code\":\"{code}\"")), "{}", error.content);
        }
        other => panic!("{other:?}"),
    }
}

fn main() {
    let ours = client(std::env::var("PETSTORE_KEY").unwrap());
    let create = |name: &str, category: i64| {
        animals_api::create_pet(&ours, PetInput::new(name.to_string(), category), None, None, None).unwrap()
    };

    let rex = create(" Rex", i64::MAX);
    assert_eq!((rex.name.as_str(), rex.category_id), (" Rex", i64::MAX));
    let ada = create("Ada", i64::MIN);
    assert_eq!(ada.category_id, i64::MIN);

    // This client does not show the headers of an answer, so it cannot follow Link.
    let first = animals_api::list_pets(&ours, Some(1), Some(PetStatus::Available), None, None, None, None).unwrap();
    assert_eq!(first.len(), 1);

    assert_eq!(animals_api::get_pet(&ours, rex.id, None, None, None).unwrap(), rex);
    refused(404, "pet_not_found", animals_api::get_pet(&ours, NOBODY, None, None, None));

    let place = || store_api::place_order(&ours, OrderInput::new(rex.id), None, None, None);
    let order = place().unwrap();
    assert_eq!((order.pet_id, order.status), (rex.id, OrderStatus::Placed));
    refused(409, "pet_not_available", place());

    let events = events_api::list_pet_events(&ours, rex.id, None, None, None, None).unwrap();
    match &events[..] {
        [PetEvent::PetCreated(created), PetEvent::OrderPlaced(placed)] => {
            assert_eq!((&created.data.name, created.data.category_id, created.streamversion), (&rex.name, rex.category_id, Some(1)));
            assert_eq!((placed.data.order_id, placed.streamversion), (order.id, 2));
        }
        other => panic!("{other:?}"),
    }

    let stranger = client("nobody".to_string());
    refused(401, "unauthorized", animals_api::list_pets(&stranger, None, None, None, None, None, None));
}
