import { defineConfig } from 'vitest/config'

/** `npm run test:kafka`: streamtop on a real Apache Kafka. Not part of `npm test`: it fetches Kafka and needs Java. */
export default defineConfig({
  test: {
    include: ['test/kafka/**/*.kafka.ts'],
    globalSetup: ['test/kafka/global-setup.ts'],
    pool: 'forks',
    // Each file has a broker of its own, and waits for it most of the time: three fit on two cores.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
