import { defineConfig } from 'vitest/config'

/** Every scenario on real processes, with real kills; `npm test` plays them in virtual time. */
export default defineConfig({
  test: {
    include: ['test/integration/*.real.ts'],
    pool: 'forks',
    testTimeout: 300_000,
  },
})
