/**
 * The dashboard's lines inside a program that draws with Ink. It draws exactly what `frameOf` gives.
 *
 * Keys are read from stdin by our own decoder: Ink's `useInput` throws on some sequences and gives several keys in one call.
 */
import { Box, Text, useStdin, useStdout } from 'ink'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Effects } from '../effects.js'
import { KeyReader } from './key-reader.js'
import { frameOf } from './frame.js'
import { ASCII_GLYPHS, type Look, UNICODE_GLYPHS } from './glyphs.js'
import type { Line, Size } from './line.js'
import type { Model } from './model.js'
import { Program, type ProgramSession } from './program.js'
import { initialModel } from './reduce.js'
import { type Theme, themeFor, themeNamed, type ToneStyle } from './theme.js'
import { svgOf } from './svg.js'
import { loadWidths } from './width.js'

export interface InkScreenProps {
  /** Begins the session; called once, when the component is mounted. */
  readonly open: (signal: AbortSignal) => Promise<ProgramSession>
  /** Null: what the environment asks for. */
  readonly theme: string | null
  readonly isAscii: boolean
  /** Null: of the program's stdout, without its last row, which Ink needs to draw without clearing the screen. */
  readonly columns: number | null
  readonly rows: number | null
  /** The user has quit and the session is closed, or it could not go on. */
  readonly onEnd: (error: unknown) => void
  readonly fx: Effects
}

export function InkScreen({ open, theme: choice, isAscii, columns, rows, onEnd, fx }: InkScreenProps) {
  const size = useSize(columns, rows)
  const sizeNow = useRef(size)
  sizeNow.current = size
  const [model, setModel] = useState<Model>(() => initialModel(fx.nowMs()))
  const [theme, setTheme] = useState<Theme>(() => themeFor(choice, process.env))
  const themeNow = useRef(theme)
  themeNow.current = theme
  const look = useMemo<Look>(
    () => ({ glyphs: isAscii ? ASCII_GLYPHS : UNICODE_GLYPHS, timeZoneOffsetMinutes: fx.timeZoneOffsetMinutes(fx.nowMs()) }),
    [isAscii, fx],
  )
  const { stdin, setRawMode, isRawModeSupported } = useStdin()

  // One session for as long as the component is there; what it was opened with does not change under it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const program = new Program(
      open,
      {
        get size() {
          return sizeNow.current
        },
        draw: setModel,
        theme: (name) => setTheme(themeNamed(name, theme.background)),
        picture: (shown) => svgOf(frameOf(shown, sizeNow.current, look), sizeNow.current, themeNow.current),
        // Both belong to the program around it.
        suspend: () => {},
        redraw: () => {},
      },
      fx,
    )
    let isThere = true
    program.ended.then(
      () => isThere && onEnd(undefined),
      (error: unknown) => isThere && onEnd(error),
    )
    program.start()
    void loadWidths().then(() => program.drawAnew())
    const reader = new KeyReader((key) => program.press(key), fx)
    const take = (chunk: Uint8Array | string) => reader.take(chunk)
    if (isRawModeSupported) {
      setRawMode(true)
      stdin.on('data', take)
    }
    return () => {
      isThere = false
      reader.stop()
      if (isRawModeSupported) {
        stdin.off('data', take)
        setRawMode(false)
      }
      program.quit()
    }
  }, [])

  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      {frameOf(model, size, look).map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
        <Row key={row} line={line} theme={theme} />
      ))}
    </Box>
  )
}

function Row({ line, theme }: { readonly line: Line; readonly theme: Theme }) {
  // An empty text takes no row at all.
  if (line.every(({ text }) => text === '')) return <Text> </Text>
  return (
    <Text wrap="truncate">
      {line.map(({ text, tone }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a span is its place
        <Text key={index} {...inkStyle(theme.styles[tone])}>
          {text}
        </Text>
      ))}
    </Text>
  )
}

function useSize(columns: number | null, rows: number | null): Size {
  const { stdout } = useStdout()
  const [terminal, setTerminal] = useState(() => sizeOf(stdout))
  useEffect(() => {
    const onResize = () => setTerminal(sizeOf(stdout))
    stdout.on('resize', onResize)
    return () => void stdout.off('resize', onResize)
  }, [stdout])
  return { columns: columns ?? terminal.columns, rows: rows ?? terminal.rows }
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns: columns > 0 ? columns : 80, rows: rows > 1 ? rows - 1 : 23 }
}

/** Names of the sixteen colours, as chalk has them. */
const COLOR_NAMES =
  'black red green yellow blue magenta cyan white gray redBright greenBright yellowBright blueBright magentaBright cyanBright whiteBright'.split(' ')

function inkStyle({ color, isBold, isReverse }: ToneStyle) {
  const name = color === null ? undefined : COLOR_NAMES[color]
  return { bold: isBold, inverse: isReverse, ...(name === undefined ? {} : { color: name }) }
}
