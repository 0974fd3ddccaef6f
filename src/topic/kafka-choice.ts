/** Which Kafka the topics of a command are on: plain data, which crosses to a child process. Secrets are not in it; each process reads them itself. */

export interface KafkaChoice {
  /** As after `--kafka`: HOST:PORT, several with commas. */
  readonly brokers: string
  /** Absolute path of `--kafka-properties`, or null. */
  readonly propertiesFile: string | null
}
