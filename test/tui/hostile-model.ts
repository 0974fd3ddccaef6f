import type { Model } from '../../src/tui/model.js'
import { logEntry, modelWith, NOW_MS } from './model-builder.js'

/** Names and texts that want to move the cursor, turn lines around, or take two cells a character. */
export function hostile(): Model {
  const model = modelWith({
    log: [
      logEntry(0, 'events\u001b[2Jcopy', 'note', 'key \u001b]0;owned\u0007 and \u202etxet and \u0000 and 注文'),
      logEntry(0, '注文注文注文注文', 'failed', 'a\r\nb'),
    ],
  })
  const names = ['bronze\u001b[31m_orders', '注文コピー', 'e\u0301\u0301\u0301\u0301\u0301\u0301\u202eorders']
  const rename = <Query extends { readonly name: string }>(query: Query, index: number): Query => ({ ...query, name: names[index] ?? query.name })
  return {
    ...model,
    selected: names[1] ?? null,
    message: { kind: 'refused', text: 'no \u001b[1mbold\u001b[0m move', atMs: NOW_MS },
    state: model.state && {
      ...model.state,
      workspace: '/srv/\u001b[2J/демо',
      queries: model.state.queries.map((live, index) => ({ ...live, info: { ...rename(live.info, index), table: '表\u0007' } })),
    },
    view: model.view && {
      ...model.view,
      status: {
        ...model.view.status,
        queries: model.view.status.queries.map(rename).map((query) => ({ ...query, sink: { kind: 'table', name: '表\u0007' } })),
      },
      detail: null,
    },
  }
}
