import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Writes each order that is placed to a topic, with the name of its pet: once, whatever ends it. */
public class OrderNames {
  static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    var journal = setting("KAFKA_TOPIC", "petstore.pets");
    var output = setting("KAFKA_OUTPUT", "order-names");
    var text = Serdes.String();
    var builder = new StreamsBuilder();
    builder.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("streams"), text, text));
    // Both topics have a pet in the same partition, so one task has its events and its documents.
    builder.stream(List.of(journal + ".published", journal + ".documents.pets"), Consumed.with(text, text))
        .process(Join::new, "streams")
        .to(output, Produced.with(text, text));
    createTopic(output);
    var streams = new KafkaStreams(builder.build(), settings());
    Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
    streams.start();
  }

  /** Which topic comes first is open. So an event waits until the pet is known as of it, or later. */
  static class Join extends ContextualProcessor<String, String, String, String> {
    KeyValueStore<String, String> streams;

    @Override
    public void init(ProcessorContext<String, String> context) {
      super.init(context);
      streams = context.getStateStore("streams");
    }

    @Override
    public void process(Record<String, String> record) {
      var stored = streams.get(record.key());
      var stream = read(stored == null ? "{\"pet\":{},\"taken\":{},\"waiting\":[]}" : stored);
      var value = record.value() == null ? JSON.createObjectNode() : read(record.value());
      var isEvent = context().recordMetadata().orElseThrow().topic().endsWith(".published");
      var type = value.path("type").asText();
      if (!isEvent) takePet(stream, pair(record.headers()).set("name", value.get("name")));
      // Its tombstone may be gone.
      else if (type.equals("petstore.PetRemoved.v1")) takePet(stream, pair(value));
      else if (type.equals("petstore.OrderPlaced.v1")) takeOrder(stream, pair(value).set("orderId", value.at("/data/orderId")));
      else return;
      var waiting = JSON.createArrayNode();
      for (var order : stream.get("waiting")) {
        if (isAbove(order, stream.get("pet"))) waiting.add(order);
        else context().forward(new Record<>(record.key(), line(record.key(), order, stream.get("pet")), record.timestamp()));
      }
      streams.put(record.key(), stream.set("waiting", waiting).toString());
    }
  }

  /** While a topic of documents is filled, a pet may go back for a moment. */
  static void takePet(ObjectNode stream, JsonNode pet) {
    if (!isAbove(stream.get("pet"), pet)) stream.set("pet", pet);
  }

  /** An event that was taken comes again where the topic was written anew, or Kafka forgot what the group committed. */
  static void takeOrder(ObjectNode stream, JsonNode order) {
    if (!isAbove(order, stream.get("taken"))) return;
    stream.set("taken", order);
    stream.withArray("waiting").add(order);
  }

  static boolean isAbove(JsonNode one, JsonNode other) {
    var versions = Long.compare(one.path("streamversion").asLong(), other.path("streamversion").asLong());
    return versions > 0 || versions == 0 && one.path("streamindex").asLong() > other.path("streamindex").asLong();
  }

  static ObjectNode pair(JsonNode event) {
    return pair(event.path("streamversion").asLong(1), event.path("streamindex").asLong(0));
  }

  /** A document is as all events of its version leave it. */
  static ObjectNode pair(Headers headers) {
    return pair(Long.parseLong(new String(headers.lastHeader("streamversion").value())), Long.MAX_VALUE);
  }

  static ObjectNode pair(long version, long index) {
    return JSON.createObjectNode().put("streamversion", version).put("streamindex", index);
  }

  static String line(String petId, JsonNode order, JsonNode pet) {
    var line = JSON.createObjectNode().put("petId", Long.parseLong(petId));
    return line.<ObjectNode>set("orderId", order.get("orderId")).set("name", pet.get("name")).toString();
  }

  static ObjectNode read(String json) {
    try {
      return (ObjectNode) JSON.readTree(json);
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }

  static void createTopic(String name) throws Exception {
    try (var admin = Admin.create(settings())) {
      if (admin.listTopics().names().get().contains(name)) return;
      admin.createTopics(List.of(new NewTopic(name, Optional.empty(), Optional.empty()))).all().get();
    }
  }

  /** With exactly_once_v2 it also reads committed records alone, and whoever reads the output with read_committed has each once. */
  static Properties settings() {
    var settings = new Properties();
    settings.put("application.id", setting("KAFKA_GROUP", "order-names"));
    settings.put("bootstrap.servers", setting("KAFKA_BROKERS", "127.0.0.1:9092"));
    settings.put("processing.guarantee", "exactly_once_v2");
    settings.put("session.timeout.ms", "6000");
    settings.put("heartbeat.interval.ms", "2000");
    var username = setting("KAFKA_SASL_USERNAME", "");
    var transport = setting("KAFKA_TLS", "false").equals("true") ? "SSL" : "PLAINTEXT";
    settings.put("security.protocol", (username.isEmpty() ? "" : "SASL_") + transport);
    settings.put("sasl.mechanism", "PLAIN");
    var login = "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\";";
    settings.put("sasl.jaas.config", login.formatted(username, setting("KAFKA_SASL_PASSWORD", "")));
    return settings;
  }

  static String setting(String name, String otherwise) {
    return System.getenv().getOrDefault(name, otherwise);
  }
}
