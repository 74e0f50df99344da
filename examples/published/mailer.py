"""Writes one mail to the table outbox for each pet that is sold: none is lost and none comes twice, whatever ends it."""

import json
import os
import sqlite3

from confluent_kafka import Consumer, KafkaException, TopicPartition

TAKE = """INSERT INTO streams VALUES (?, ?, ?) ON CONFLICT DO UPDATE
    SET version = excluded.version, place = excluded.place WHERE (excluded.version, excluded.place) > (version, place)"""
topic = os.environ.get("KAFKA_TOPIC", "petstore.pets") + ".published"
username, tls = os.environ.get("KAFKA_SASL_USERNAME"), os.environ.get("KAFKA_TLS") == "true"
login = {"sasl.mechanism": "PLAIN", "sasl.username": username, "sasl.password": os.environ.get("KAFKA_SASL_PASSWORD")}
protocol = ("SASL_" if username else "") + ("SSL" if tls else "PLAINTEXT")
settings = {"bootstrap.servers": os.environ.get("KAFKA_BROKERS", "127.0.0.1:9092"), "security.protocol": protocol}
settings |= {"group.id": "none", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
database = sqlite3.connect(os.environ.get("DATABASE", "mailer-python.db"))
database.execute("CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER)")
database.execute("CREATE TABLE IF NOT EXISTS streams (stream TEXT PRIMARY KEY, version INTEGER, place INTEGER)")
database.execute("CREATE TABLE IF NOT EXISTS outbox (mail TEXT)")
positions = dict(database.execute("SELECT partition, next FROM positions"))
consumer = Consumer(settings | (login if username else {}))
metadata = consumer.list_topics(topic, timeout=30).topics[topic]
if metadata.error:
    raise KafkaException(metadata.error)
consumer.assign([TopicPartition(topic, each, positions.get(each, 0)) for each in metadata.partitions])
while True:
    messages = consumer.consume(500, timeout=1)
    with database:  # one transaction
        for message in messages:
            if message.error():
                raise KafkaException(message.error())
            event = json.loads(message.value())
            pair = (event.get("streamversion", 1), event.get("streamindex", 0))
            is_new = database.execute(TAKE, (event["subject"], *pair)).rowcount > 0
            if is_new and event["type"] == "petstore.OrderDelivered.v1":
                mail = "Order {orderId}: pet {petId} is sold".format(**event["data"])
                database.execute("INSERT INTO outbox VALUES (?)", (mail,))
            database.execute("REPLACE INTO positions VALUES (?, ?)", (message.partition(), message.offset() + 1))
