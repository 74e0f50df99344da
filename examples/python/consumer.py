"""Prints each change of a pet or an order that took effect, as one line of JSON.

It keeps the rule for consumers of docs/events.md, and all that it has to remember in one SQLite file, together with the
position in the topic. A line is printed before its position is stored: after a crash some lines come once more, with the
same partition and offset, and none is lost. To begin again at the first event, stop it and delete the file.
"""

import json
import os
import signal
import sqlite3
import sys
from datetime import datetime, timezone

from confluent_kafka import Consumer, KafkaError, KafkaException

TOPIC = os.environ.get("KAFKA_TOPIC", "petstore.pets")
# What is longer is not read, whatever it is: the service does the same.
KEY_BYTES_MAX = 128
VALUE_BYTES_MAX = 16 * 1024
TIME_MAX = 40
PET_CREATED = "petstore.PetCreated.v1"
# For each event about an order: the order's and the pet's status after it, and those it can follow. Placing looks at the pet.
TRANSITIONS = {
    "petstore.OrderPlaced.v1": ("placed", "pending", ["available"]),
    "petstore.OrderApproved.v1": ("approved", "pending", ["placed"]),
    "petstore.OrderDelivered.v1": ("delivered", "sold", ["approved"]),
    "petstore.OrderCancelled.v1": ("cancelled", "available", ["placed", "approved"]),
}
# What an event comes to that places an order with the id of another one.
DUPLICATE = "duplicate"
TABLES = """
    PRAGMA journal_mode = WAL;
    -- After a power cut the last commits may be missing: the positions with them, so that their records are read again.
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS streams (key TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS idempotency_keys
        (partition INTEGER, key TEXT, PRIMARY KEY (partition, key)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS orders_of_pets ON orders (json ->> 'petId');
"""


def main():
    # A transaction is begun and committed by hand.
    database = sqlite3.connect(os.environ.get("DATABASE", "consumer-python.db"), isolation_level=None)
    database.executescript(TABLES)
    consumer = Consumer(settings())
    metadata = consumer.list_topics(TOPIC, timeout=30).topics[TOPIC]
    check(metadata.error)
    partitions = len(metadata.partitions)

    def assigned(_consumer, assignment):
        for each in assignment:
            each.offset = position(database, each.partition)
        consumer.assign(assignment)

    consumer.subscribe([TOPIC], on_assign=assigned)
    # Raised between two batches or within one, whose transaction then has no effect.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            messages = consumer.consume(500, timeout=1)
            if messages:
                take(database, messages, partitions)
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()
        database.close()


def settings():
    found = {
        "bootstrap.servers": os.environ.get("KAFKA_BROKERS", "127.0.0.1:9092"),
        "group.id": os.environ.get("KAFKA_GROUP", "example-consumer-python"),
        # Offsets committed to the group serve tools that show the lag, and nothing else.
        "enable.auto.commit": True,
        # A position beyond the end: the database belongs to another topic, or the topic was made anew.
        "auto.offset.reset": "error",
        "session.timeout.ms": 6000,
    }
    tls = os.environ.get("KAFKA_TLS") == "true"
    username = os.environ.get("KAFKA_SASL_USERNAME")
    found["security.protocol"] = ("SASL_" if username else "") + ("SSL" if tls else "PLAINTEXT")
    if username:
        password = os.environ.get("KAFKA_SASL_PASSWORD", "")
        found |= {"sasl.mechanism": "PLAIN", "sasl.username": username, "sasl.password": password}
    return found


def position(database, partition):
    row = database.execute("SELECT next FROM positions WHERE partition = ?", (partition,)).fetchone()
    return row[0] if row else 0


def take(database, messages, partitions):
    """Takes messages and moves the positions in one transaction."""
    database.execute("BEGIN IMMEDIATE")
    try:
        for message in messages:
            check(message.error())
            partition, offset = message.partition(), message.offset()
            if offset < position(database, partition):
                continue  # another process had the partition meanwhile, and took it
            effect = take_record(database, partition, message.key(), message.value(), partitions)
            if effect is not None:
                line = {"partition": partition, "offset": offset, **effect}
                print(json.dumps(line, ensure_ascii=False, separators=(",", ":")), flush=True)
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (partition, offset + 1))
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def check(error):
    if error is None:
        return
    if error.code() == KafkaError._AUTO_OFFSET_RESET:
        sys.exit(
            f"The database is beyond the end of {TOPIC}: it belongs to another topic, or the topic was made anew. "
            "Delete the database to begin again."
        )
    raise KafkaException(error)


def take_record(database, partition, key, value, partitions):
    """What a record comes to: steps 1 to 5 of the rule. None if it changes no pet and no order."""
    # 1. Ignore what is not an event of a stream.
    event, stream = read_event(value), read_text(key)
    if event is None or stream is None or len(key) > KEY_BYTES_MAX or event.get("subject") != stream:
        return None
    kind = event["type"]
    if not kind.startswith("petstore.") or kind == "petstore.EventDiscarded.v1":
        return None
    if partition_for(stream, partitions) != partition:
        return None

    # 2. Ignore what came second.
    is_of_first_release = kind == PET_CREATED and "streamversion" not in event
    version = 1 if is_of_first_release else event.get("streamversion")
    row = database.execute("SELECT version FROM streams WHERE key = ?", (stream,)).fetchone()
    if isinstance(version, bool) or version != (row[0] if row else 0) + 1:
        return None

    # 3. Ignore duplicates, uncounted.
    key = event.get("idempotencykey")
    counted_key = (partition, well_formed(key)) if isinstance(key, str) else None
    query = "SELECT 1 FROM idempotency_keys WHERE partition = ? AND key = ?"
    if counted_key is not None and database.execute(query, counted_key).fetchone():
        return None
    if kind in CHANGES:
        effect = CHANGES[kind](database, event)
    else:
        effect = change_order(database, event, partitions)
    if effect == DUPLICATE:
        return None

    # 4. Count every other event, known or not.
    database.execute("INSERT OR REPLACE INTO streams VALUES (?, ?)", (stream, int(version)))
    if counted_key is not None:
        database.execute("INSERT INTO idempotency_keys VALUES (?, ?)", counted_key)

    # 5. Apply it, unless it cannot be read or contradicts what came before.
    if effect is not None:
        for table, changed in (("pets", effect["pet"]), ("orders", effect.get("order"))):
            if changed is not None:
                database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (changed["id"], json.dumps(changed)))
    return effect


def create_pet(database, event):
    pet = read_pet(event)
    if pet is None or find(database, "pets", pet["id"]):
        return None
    return {"type": event["type"], "pet": pet}


def change_pet(database, event):
    """Orders alone change the status."""
    pet = read_pet(event)
    before = find(database, "pets", pet["id"]) if pet else None
    if before is None or before.get("isRemoved") or before["status"] != pet["status"]:
        return None
    return {"type": event["type"], "pet": pet}


def remove_pet(database, event):
    """It is remembered all the same: its id never comes again."""
    pet_id = members_of(event.get("data")).get("petId")
    if not is_id(pet_id) or str(pet_id) != event["subject"]:
        return None
    pet = find(database, "pets", pet_id)
    if pet is None or pet.get("isRemoved") or has_open_order(database, pet_id):
        return None
    return {"type": event["type"], "pet": {**pet, "isRemoved": True}}


# What an event about a pet comes to; any other may be about an order.
CHANGES = {
    PET_CREATED: create_pet,
    "petstore.PetCreated.v2": create_pet,
    "petstore.PetChanged.v1": change_pet,
    "petstore.PetChanged.v2": change_pet,
    "petstore.PetRemoved.v1": remove_pet,
}


def read_pet(event):
    data = members_of(event.get("data"))
    pet = {name: data.get(name) for name in ("id", "name", "categoryId", "status")}
    if not is_id(pet["id"]) or str(pet["id"]) != event["subject"]:
        return None
    if not isinstance(pet["name"], str) or well_formed(pet["name"]) != pet["name"]:
        return None
    if not is_integer(pet["categoryId"]) or not -(2**63) <= pet["categoryId"] < 2**63:
        return None
    if "description" in data:  # from version 2 on
        if not isinstance(data["description"], str) or well_formed(data["description"]) != data["description"]:
            return None
        pet["description"] = data["description"]
    return pet if pet["status"] in ("available", "pending", "sold") else None


def change_order(database, event, partitions):
    """DUPLICATE if it would be applied, were there no order with its id yet."""
    data = members_of(event.get("data"))
    order_id, pet_id = data.get("orderId"), data.get("petId")
    if event["type"] not in TRANSITIONS or not is_id(order_id) or not is_id(pet_id) or str(pet_id) != event["subject"]:
        return None
    order_status, pet_status, allowed = TRANSITIONS[event["type"]]
    pet, order = find(database, "pets", pet_id), find(database, "orders", order_id)
    is_new = order_status == "placed"
    if pet is None or pet.get("isRemoved") or (not is_new and (order is None or order["petId"] != pet_id)):
        return None
    if partition_for(str(order_id), partitions) != partition_for(str(pet_id), partitions):
        return None
    time = read_time(event.get("time"))
    if (pet if is_new else order)["status"] not in allowed or time is None:
        return None
    if is_new and order is not None:
        return DUPLICATE
    placed_at = time if is_new else order["placedAt"]
    updated_at = time if is_new else max(time, order["updatedAt"])  # clocks of instances differ
    order = {"id": order_id, "petId": pet_id, "status": order_status, "placedAt": placed_at, "updatedAt": updated_at}
    return {"type": event["type"], "pet": {**pet, "status": pet_status}, "order": order}


def has_open_order(database, pet_id):
    query = "SELECT 1 FROM orders WHERE json ->> 'petId' = ? AND json ->> 'status' IN ('placed', 'approved')"
    return database.execute(query, (pet_id,)).fetchone() is not None


def find(database, table, number):
    row = database.execute(f"SELECT json FROM {table} WHERE id = ?", (number,)).fetchone()
    return json.loads(row[0]) if row else None


def read_event(value):
    """A CloudEvent, or None. Longer values are not read, whatever they are: the service skips them as well."""
    if value is None or len(value) > VALUE_BYTES_MAX:
        return None
    try:
        event = json.loads(value.decode("utf-8-sig"), parse_float=read_float, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None  # not UTF-8, not JSON, or nested deeper than any event
    if not isinstance(event, dict) or event.get("specversion") != "1.0":
        return None
    names = [event.get(name) for name in ("id", "type", "source")]
    return event if all(isinstance(name, str) and name for name in names) else None


def read_float(text):
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value  # 7.0 and 7e0 are integers as well


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")  # Python would take NaN and Infinity


def read_text(key):
    try:
        return None if key is None else key.decode()
    except UnicodeDecodeError:
        return None


def read_time(text):
    if not isinstance(text, str) or len(text) > TIME_MAX:
        return None
    try:
        time = datetime.fromisoformat(text).astimezone(timezone.utc)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def members_of(value):
    return value if isinstance(value, dict) else {}


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_id(value):
    return is_integer(value) and 1 <= value < 2**53


def well_formed(text):
    """JSON can hold half of a surrogate pair, which no database takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def partition_for(key, partitions):
    """Kafka's default partitioner."""
    return (murmur2(key.encode()) & 0x7FFFFFFF) % partitions


def murmur2(data):
    multiplier, mask = 0x5BD1E995, 0xFFFFFFFF
    value = 0x9747B28C ^ len(data)
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        block = int.from_bytes(data[at : at + 4], "little") * multiplier & mask
        block = (block ^ block >> 24) * multiplier & mask
        value = (value * multiplier & mask) ^ block
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * multiplier & mask
    value = (value ^ value >> 13) * multiplier & mask
    return value ^ value >> 15


if __name__ == "__main__":
    try:
        main()
    except KafkaException as error:
        sys.exit(f"Kafka: {error}")
