import { defineConfig } from 'vitest/config'

/** Unit tests import from src; integration tests start dist/cli.js, which `npm test` builds first. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    // Processes and not threads: a test may open native databases and kill children.
    setupFiles: ['test/seed.ts'],
    pool: 'forks',
    // Many of them wait for other processes, so that two at a time pay even where there are two cores.
    maxWorkers: 2,
    // For a busy machine: what hangs is found all the same.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
