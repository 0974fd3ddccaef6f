/** Keys by name. The input layer gives these, the action table names them. */

/**
 * A key as it was pressed: a printable character is its own name (`x`, `X`, `é`, `[`), others are `up down left right home end pageup
 * pagedown insert delete backspace enter escape tab shift-tab space f1`…`f12`. A modifier stands before it, of several in the order
 * `ctrl-alt-shift-`: `ctrl-c`, `ctrl-left`, `alt-b`; shift alone is only told of keys that print nothing (`shift-up`). `paste` has the
 * pasted text.
 */
export interface KeyPress {
  readonly name: string
  /** Of `paste`: as it came, line ends and controls included, at most `PASTE_LIMIT_BYTES` of UTF-8. */
  readonly text?: string
}

/** What is pasted beyond it is dropped. */
export const PASTE_LIMIT_BYTES = 16_384
