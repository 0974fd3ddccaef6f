/** Keys as help and footers print them. */

/** `↑`, `esc`, `space`, `1-9`; of several keys one after the other. */
export function keysLabel(keys: readonly string[], isAscii: boolean): string {
  const digits = keys.filter((key) => /^\d$/.test(key))
  const range = digits.length > 2 ? [`${digits[0]}-${digits.at(-1)}`] : digits
  return [...range, ...keys.filter((key) => !digits.includes(key)).map((key) => keyLabel(key, isAscii))].join(' ')
}

function keyLabel(key: string, isAscii: boolean): string {
  if (key === 'escape') return 'esc'
  if (isAscii) return key
  return ARROWS[key] ?? key
}

const ARROWS: Readonly<Record<string, string>> = { up: '↑', down: '↓', left: '←', right: '→' }
