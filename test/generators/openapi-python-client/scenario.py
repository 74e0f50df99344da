"""The scenario of README.md, by the client of openapi-python-client."""
import os
import re

from petstore_animals_client import AuthenticatedClient
from petstore_animals_client.api.animals import create_pet, get_pet, list_pets
from petstore_animals_client.api.events import list_pet_events
from petstore_animals_client.api.store import place_order
from petstore_animals_client.models import OrderInput, OrderPlaced, PetCreated, PetInput, PetStatus

LARGEST = 9223372036854775807
NOBODY = 9007199254740991


def client(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["PETSTORE_URL"] + "/v1", token=key)


def refused(status: int, code: str, answer) -> None:
    assert (answer.status_code, answer.parsed.code) == (status, code), answer


ours = client(os.environ["PETSTORE_KEY"])

rex = create_pet.sync(client=ours, body=PetInput(name=" Rex", category_id=LARGEST))
assert (rex.name, rex.category_id) == (" Rex", LARGEST)
ada = create_pet.sync(client=ours, body=PetInput(name="Ada", category_id=-LARGEST - 1))

first = list_pets.sync_detailed(client=ours, limit=1, status=PetStatus.AVAILABLE)
assert len(first.parsed) == 1
cursor = re.search(r"cursor=([\w-]+)", first.headers["link"])[1]
second = list_pets.sync(client=ours, limit=1, status=PetStatus.AVAILABLE, cursor=cursor)
assert first.parsed[0].id < second[0].id <= ada.id

assert get_pet.sync(rex.id, client=ours) == rex
refused(404, "pet_not_found", get_pet.sync_detailed(NOBODY, client=ours))

order = place_order.sync(client=ours, body=OrderInput(pet_id=rex.id))
assert (order.pet_id, order.status) == (rex.id, "placed")
refused(409, "pet_not_available", place_order.sync_detailed(client=ours, body=OrderInput(pet_id=rex.id)))

created, placed = list_pet_events.sync(rex.id, client=ours)
assert isinstance(created, PetCreated) and (created.data.to_dict(), created.streamversion) == (rex.to_dict(), 1)
assert isinstance(placed, OrderPlaced) and (placed.data.order_id, placed.streamversion) == (order.id, 2)

refused(401, "unauthorized", list_pets.sync_detailed(client=client("nobody")))
