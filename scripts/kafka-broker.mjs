/**
 * A real Apache Kafka on this machine, for `npm run kafka` and `npm run test:kafka`: the jars by Maven, once, into the ignored
 * folder `.kafka/`, and a broker that is its own controller (KRaft), on free ports of 127.0.0.1, in a folder that the caller gives.
 */
import { createHash, randomBytes } from 'node:crypto'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const KAFKA_FOLDER = fileURLToPath(new URL('../.kafka', import.meta.url))
const POM = fileURLToPath(new URL('kafka-pom.xml', import.meta.url))
const JAVA = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java'

/**
 * What is needed to start Kafka, fetched when it is not there yet.
 * @param {(line: string) => void} say
 * @returns {Promise<{ jars: string } | string>} the folder of the jars, or a sentence that says why it cannot be had here
 */
export async function fetchKafka(say = () => {}) {
  const java = spawnSync(JAVA, ['-version'], { encoding: 'utf8' })
  const version = java.error ? null : /version "(\d+)/.exec(`${java.stdout}${java.stderr}`)
  if (version === null) return 'Kafka is not run: java is missing; it needs Java 17 or newer'
  if (Number(version[1]) < 17) return `Kafka is not run: java is version ${version[1]}, and Kafka 4.4 needs 17 or newer`
  const jars = join(KAFKA_FOLDER, 'jars')
  const stampFile = join(KAFKA_FOLDER, 'stamp')
  const stamp = createHash('sha256').update(readFileSync(POM)).digest('hex')
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return { jars }
  if (spawnSync('mvn', ['-B', '--version']).error) return "Kafka is not run: mvn (Maven), which fetches Kafka's jars, is missing"

  rmSync(KAFKA_FOLDER, { recursive: true, force: true })
  mkdirSync(KAFKA_FOLDER, { recursive: true })
  say('fetching Apache Kafka 4.4.0 into .kafka/ (once, 45 MB)')
  const said = await run('mvn', ['-B', '-q', '-f', POM, 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${jars}`])
  if (said !== null) return `Kafka could not be fetched: ${said}`
  writeFileSync(stampFile, stamp)
  return { jars }
}

/**
 * Formats a folder and starts a broker in it. The folder is made, and stays: the caller removes it. In one that a broker was in before
 * it goes on with what is there, on the same port unless another is given.
 *
 * @param {object} options
 * @param {Record<string, string>} [options.settings] added to server.properties
 * @param {{ protocol: string, port: number }[]} [options.listeners] beside the plain one
 * @param {string[]} [options.formatWords] added to the words of `format`
 * @param {import('./kafka-broker.mjs').Broker} [options.joins] the first broker of a cluster, whose controller this one takes for its own
 */
export async function startBroker({ jars, folder, settings = {}, port: wanted, listeners = [], formatWords = [], joins }) {
  mkdirSync(folder, { recursive: true })
  const before = brokerBefore(folder)
  const port = wanted ?? before?.port ?? (await freePort())
  // Whoever listens there would be taken for the broker, and might be another Kafka.
  if (await answers(port)) throw new Error(`port ${port} of 127.0.0.1 is taken: something listens there already`)
  const controllerPort = joins?.controllerPort ?? (await freePort())
  const properties = join(folder, 'server.properties')
  const clusterId = joins?.clusterId ?? before?.clusterId ?? newClusterId()
  const own = { ...brokerProperties(folder, port, controllerPort, listeners), ...(joins ? joiningProperties(port) : {}) }
  writeFileSync(properties, propertiesText({ ...own, ...settings }))
  if (before === null) {
    const formatted = await run(JAVA, javaArguments(jars, 'kafka.tools.StorageTool', ['format', '-t', clusterId, '-c', properties, ...formatWords]))
    if (formatted !== null) throw new Error(`Kafka's folder could not be formatted: ${formatted}`)
  }
  const log = join(folder, 'server.log')
  let child = await startProcess()

  /** Resolves when the port answers; whether the broker serves is for the caller's first request to find out. */
  async function startProcess() {
    const file = openSync(log, 'a')
    // A group of its own: a ctrl-c in the terminal is for the parent, which then stops the broker.
    const started = spawn(JAVA, javaArguments(jars, 'kafka.Kafka', [properties]), { stdio: ['ignore', file, file], detached: true })
    closeSync(file)
    const ended = new Promise((resolve) => started.on('close', resolve))
    const killAtExit = () => started.kill('SIGKILL')
    process.on('exit', killAtExit)
    void ended.then(() => process.off('exit', killAtExit))
    const handle = { process: started, ended, isOver: false }
    void ended.then(() => {
      handle.isOver = true
    })
    const deadline = Date.now() + 60_000
    while (!(await answers(port))) {
      if (handle.isOver || Date.now() > deadline) {
        started.kill('SIGKILL')
        throw new Error(`Kafka did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return handle
  }

  async function end(signal) {
    const { process: running, ended } = child
    running.kill(signal)
    const tooLong = setTimeout(() => running.kill('SIGKILL'), 15_000)
    await ended
    clearTimeout(tooLong)
  }

  return {
    address: `127.0.0.1:${port}`,
    port,
    controllerPort,
    clusterId,
    folder,
    get pid() {
      return child.process.pid
    },
    get ended() {
      return child.ended
    },
    /** SIGKILL; resolves when the process is gone. */
    kill: () => end('SIGKILL'),
    /** SIGTERM, and SIGKILL after 15 seconds. */
    stop: () => end('SIGTERM'),
    /** Starts it again on the same port with the same data. */
    async restart() {
      child = await startProcess()
    },
    logText: () => readFileSync(log, 'utf8'),
  }
}

/** Port and cluster of the broker that was in a folder, or null. */
function brokerBefore(folder) {
  const [properties, meta] = [join(folder, 'server.properties'), join(folder, 'data', 'meta.properties')]
  if (!existsSync(properties) || !existsSync(meta)) return null
  const port = /^listeners=\w+:\/\/127\.0\.0\.1:(\d+)/m.exec(readFileSync(properties, 'utf8'))?.[1]
  const clusterId = /^cluster\.id=(.+)$/m.exec(readFileSync(meta, 'utf8'))?.[1]
  return port === undefined || clusterId === undefined ? null : { port: Number(port), clusterId: clusterId.trim() }
}

/** 16 bytes in base64url. One that begins with a dash would be read as an option. */
function newClusterId() {
  for (;;) {
    const id = randomBytes(16).toString('base64url')
    if (!id.startsWith('-')) return id
  }
}

/** One node that is broker and controller, small and quick: everything that is replicated has one replica, nothing waits for a second member. */
function brokerProperties(folder, port, controllerPort, listeners) {
  const served = [{ protocol: 'PLAINTEXT', port }, ...listeners].map((listener) => `${listener.protocol}://127.0.0.1:${listener.port}`).join(',')
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    listeners: `${served},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': served,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL',
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'log.dirs': join(folder, 'data'),
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'background.threads': '2',
    'num.recovery.threads.per.data.dir': '1',
    'log.cleaner.threads': '1',
    'log.cleaner.dedupe.buffer.size': '2097152',
    // After a SIGKILL the broker may come back as soon as its old session has run out.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
  }
}

/** What differs for a second node, which is a broker alone. */
function joiningProperties(port) {
  return { 'process.roles': 'broker', 'node.id': '2', listeners: `PLAINTEXT://127.0.0.1:${port}` }
}

function propertiesText(properties) {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

function javaArguments(jars, mainClass, words) {
  const quick = [
    '-Xms128m',
    '-Xmx384m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Djava.awt.headless=true',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  ]
  return [...quick, '-cp', join(jars, '*'), mainClass, ...words]
}

/** @returns {Promise<number>} a port that nobody listens on just now */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Runs a command to its end. @returns what went wrong, or null */
function run(command, words) {
  return new Promise((resolve) => {
    const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        said = `${said}${bytes}`.slice(-2_000)
      })
    }
    child.on('error', (error) => resolve(`${command}: ${error.message}`))
    child.on('close', (code) => resolve(code === 0 ? null : `${command} ended with ${code}: ${said.trim()}`))
  })
}
