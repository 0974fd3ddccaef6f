import { defineConfig } from 'vitest/config'

/** `npm run test:spark`: streamtop and a real Spark over the same folders. Not part of `npm test`: it fetches Spark and takes minutes. */
export default defineConfig({
  test: {
    include: ['test/spark/**/*.spark.ts'],
    globalSetup: ['test/spark/global-setup.ts'],
    pool: 'forks',
    // One file at a time, for there is one Spark; within it a few histories side by side, for each waits most of its time.
    fileParallelism: false,
    maxConcurrency: 4,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
})
