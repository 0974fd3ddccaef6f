/** Keys by name. The input layer gives these, the action table names them. */

/**
 * A key as it was pressed: a printable character is its own name (`x`, `X`, `é`, `[`), others are `up down left right home end pageup
 * pagedown insert delete backspace enter escape tab shift-tab space f1`…`f12`, and `ctrl-c` and the like. `paste` has the pasted text.
 */
export interface KeyPress {
  readonly name: string
  /** Of `paste`. */
  readonly text?: string
}
