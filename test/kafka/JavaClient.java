import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka's own client, to compare with: `produce BROKERS TOPIC CODEC` sends the lines of stdin, `key<TAB>value`; `consume BROKERS TOPIC
 * COUNT` prints so many records. Both print a line a record: partition, offset, key, value, with tabs between.
 */
public class JavaClient {
  public static void main(String[] words) throws Exception {
    if (words[0].equals("produce")) produce(words[1], words[2], words[3]);
    else consume(words[1], words[2], Integer.parseInt(words[3]));
  }

  private static void produce(String brokers, String topic, String codec) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", brokers, "compression.type", codec, "linger.ms", 50);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      var sent = new ArrayList<java.util.concurrent.Future<org.apache.kafka.clients.producer.RecordMetadata>>();
      var said = new ArrayList<String>();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split("\t", 2);
        sent.add(producer.send(new ProducerRecord<>(topic, parts[0], parts[1])));
        said.add(line);
      }
      for (int index = 0; index < sent.size(); index++) {
        var metadata = sent.get(index).get();
        print(metadata.partition(), metadata.offset(), said.get(index));
      }
    }
  }

  private static void consume(String brokers, String topic, int count) {
    Map<String, Object> settings = Map.of("bootstrap.servers", brokers, "auto.offset.reset", "earliest", "check.crcs", true);
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> partitions = consumer.partitionsFor(topic).stream().map(info -> new TopicPartition(topic, info.partition())).toList();
      consumer.assign(partitions);
      for (int read = 0; read < count; ) {
        for (var record : consumer.poll(Duration.ofSeconds(1))) {
          print(record.partition(), record.offset(), record.key() + "\t" + record.value());
          read++;
        }
      }
    }
  }

  private static void print(int partition, long offset, String line) {
    byte[] bytes = (partition + "\t" + offset + "\t" + line + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length);
    System.out.flush();
  }
}
