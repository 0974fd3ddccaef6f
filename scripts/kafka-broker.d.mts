/** A real Apache Kafka on this machine. */

export interface Broker {
  /** Of the first listener: host and port. */
  readonly address: string
  readonly port: number
  readonly controllerPort: number
  readonly clusterId: string
  readonly folder: string
  readonly pid: number
  /** Resolves when the process is gone. */
  readonly ended: Promise<unknown>
  kill(): Promise<void>
  stop(): Promise<void>
  restart(): Promise<void>
  logText(): string
}

export function fetchKafka(say?: (line: string) => void): Promise<{ readonly jars: string } | string>

export function startBroker(options: {
  readonly jars: string
  readonly folder: string
  readonly settings?: Readonly<Record<string, string>>
  readonly port?: number
  readonly listeners?: readonly { readonly protocol: string; readonly port: number }[]
  readonly formatWords?: readonly string[]
  /** The first broker of the cluster; without it a broker is a cluster by itself. */
  readonly joins?: Broker
}): Promise<Broker>

/** A port of 127.0.0.1 that nobody listens on just now. */
export function freePort(): Promise<number>
