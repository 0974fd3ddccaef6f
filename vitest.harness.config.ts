import { defineConfig } from 'vitest/config'

/** `npm run test:harness`: deaths, damage, races and lost power by the hundred. Not part of `npm test`, which takes a few of each. */
export default defineConfig({
  test: {
    include: ['test/harness/**/*.harness.ts'],
    setupFiles: ['test/seed.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
