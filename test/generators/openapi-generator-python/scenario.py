"""The scenario of README.md, by the Python client of openapi-generator."""
import os
import re

import openapi_client
from openapi_client import AnimalsApi, EventsApi, OrderInput, PetInput, StoreApi
from openapi_client.exceptions import ApiException

LARGEST = 9223372036854775807
NOBODY = 9007199254740991


def client(key: str) -> openapi_client.ApiClient:
    host = os.environ["PETSTORE_URL"] + "/v1"
    return openapi_client.ApiClient(openapi_client.Configuration(host=host, access_token=key))


def refused(status: int, code: str, call) -> None:
    try:
        call()
    except ApiException as error:
        assert (error.status, error.data.code) == (status, code), error
    else:
        raise AssertionError(f"{code} is expected")


ours = client(os.environ["PETSTORE_KEY"])
animals, store, events = AnimalsApi(ours), StoreApi(ours), EventsApi(ours)

rex = animals.create_pet(PetInput(name=" Rex", category_id=LARGEST))
assert (rex.name, rex.category_id) == (" Rex", LARGEST)
ada = animals.create_pet(PetInput(name="Ada", category_id=-LARGEST - 1))

first = animals.list_pets_with_http_info(limit=1, status="available")
assert len(first.data) == 1
cursor = re.search(r"cursor=([\w-]+)", first.headers["link"])[1]
second = animals.list_pets(limit=1, status="available", cursor=cursor)
assert first.data[0].id < second[0].id <= ada.id

assert animals.get_pet(rex.id) == rex
refused(404, "pet_not_found", lambda: animals.get_pet(NOBODY))

order = store.place_order(OrderInput(pet_id=rex.id))
assert (order.pet_id, order.status) == (rex.id, "placed")
refused(409, "pet_not_available", lambda: store.place_order(OrderInput(pet_id=rex.id)))

created, placed = (event.actual_instance for event in events.list_pet_events(rex.id))
assert (created.type, created.data.to_dict(), created.streamversion) == ("petstore.PetCreated.v1", rex.to_dict(), 1)
assert (placed.type, placed.data.order_id, placed.streamversion) == ("petstore.OrderPlaced.v1", order.id, 2)

refused(401, "unauthorized", lambda: AnimalsApi(client("nobody")).list_pets())
