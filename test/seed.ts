/**
 * The seed of every test that draws its cases. `npm test` draws the same ones each time, so that a failure is a change's own;
 * `STREAMTOP_SEED=N npm test` draws others, and repeats what a failure printed. New seeds are the torture run's work.
 */
import fc from 'fast-check'

export const SEED = Number(process.env['STREAMTOP_SEED'] ?? 20_261_001)

fc.configureGlobal({ seed: SEED })
