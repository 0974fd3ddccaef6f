/** Keys while a step is chosen, and while a question is open. Pure. */
import { STEPS } from '../engine/steps.js'
import { requestOfKey, unasked } from './act.js'
import type { KeyPress } from './keys.js'
import type { Confirm, Model, Reduced, StepChooser } from './model.js'

/** Arrows move, a digit or enter chooses, escape, `X` and `q` close it. The first row is step 1. */
export function pressInChooser(model: Model, chooser: StepChooser, key: KeyPress): Reduced {
  const at = STEPS.indexOf(chooser.step)
  const closed: Model = { ...model, chooser: null }
  const digit = /^[1-8]$/.test(key.name) ? Number(key.name) : null
  const step = key.name === 'enter' ? chooser.step : digit === null ? undefined : STEPS[digit - 1]
  if (step !== undefined) return { model: closed, effects: [{ kind: 'perform', action: { name: 'kill-step', query: chooser.query, step }, by: 'X' }] }
  const places = { home: -STEPS.length, end: STEPS.length }[key.name]
  switch (requestOfKey(key.name)?.action) {
    case 'back':
    case 'quit':
    case 'choose-step':
      return unasked(closed)
    case 'up':
      return unasked(moved(model, chooser, at - 1))
    case 'down':
      return unasked(moved(model, chooser, at + 1))
    default:
      return unasked(places === undefined ? model : moved(model, chooser, at + places))
  }
}

function moved(model: Model, chooser: StepChooser, to: number): Model {
  const step = STEPS[Math.min(STEPS.length - 1, Math.max(0, to))]
  return step === undefined || step === chooser.step ? model : { ...model, chooser: { ...chooser, step } }
}

/** `y` does it, everything else does not. */
export function pressInConfirm(model: Model, confirm: Confirm, key: KeyPress): Reduced {
  const closed: Model = { ...model, confirm: null }
  if (key.name === 'y') return { model: closed, effects: [{ kind: 'perform', action: confirm.action, by: confirm.by }] }
  return unasked({ ...closed, message: { kind: 'done', text: 'nothing was dropped', atMs: model.nowMs } })
}
