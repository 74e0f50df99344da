"""Keeps a table of the pets as GET shows them, whatever ends it. A row whose pet is null is that of a removed one."""

import os
import sqlite3
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

# A filling may tell an older pet once more. The row has the version, of a removed pet too, so it is left out.
TAKE = """INSERT INTO pets (id, version, pet) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
    SET version = excluded.version, pet = excluded.pet WHERE excluded.version >= version"""
topic, tls = os.environ.get("KAFKA_TOPIC", "petstore.pets") + ".documents.pets", os.environ.get("KAFKA_TLS") == "true"
username = os.environ.get("KAFKA_SASL_USERNAME")
login = {"sasl.mechanism": "PLAIN", "sasl.username": username, "sasl.password": os.environ.get("KAFKA_SASL_PASSWORD")}
protocol = ("SASL_" if username else "") + ("SSL" if tls else "PLAINTEXT")
settings = {"bootstrap.servers": os.environ.get("KAFKA_BROKERS", "127.0.0.1:9092"), "security.protocol": protocol}
settings |= {"group.id": "none", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
database = sqlite3.connect(os.environ.get("DATABASE", "table-python.db"))
database.execute("CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER, time INTEGER)")
database.execute("CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, version INTEGER, pet TEXT)")
# Tombstones are kept for seven days: after six without a record some may be gone, so the table is loaded anew.
if database.execute("SELECT 1 FROM positions WHERE time < ?", (1000 * (time.time() - 6 * 86_400),)).fetchone():
    database.executescript("BEGIN; DELETE FROM pets; DELETE FROM positions; COMMIT")
positions = dict(database.execute("SELECT partition, next FROM positions"))
consumer = Consumer(settings | (login if username else {}))
partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions or exit(f"There is no topic {topic}.")
consumer.assign([TopicPartition(topic, each, positions.get(each, 0)) for each in partitions])
while True:
    messages = consumer.consume(500, timeout=1)
    with database:  # one transaction
        for message in messages:
            if message.error():
                raise KafkaException(message.error())
            headers, value = dict(message.headers()), message.value() and message.value().decode()
            database.execute(TAKE, (int(message.key()), int(headers["streamversion"]), value))
            place = (message.partition(), message.offset() + 1, message.timestamp()[1])
            database.execute("REPLACE INTO positions VALUES (?, ?, ?)", place)
