/**
 * The facts that a version of a Delta table is made of (Delta protocol, "Actions"), as streamtop uses them. The JSON of a
 * version is kept as text beside them; `parseVersion` and `formatVersion` are in version-text.ts.
 */

export interface Protocol {
  readonly minReaderVersion: number
  readonly minWriterVersion: number
  readonly readerFeatures?: readonly string[]
  readonly writerFeatures?: readonly string[]
}

export interface Metadata {
  /** The table's id, fixed for its life. */
  readonly id: string
  readonly schemaString: string
  readonly partitionColumns: readonly string[]
  readonly configuration: Readonly<Record<string, string>>
  readonly createdTimeMs: number | null
}

/** Rows of a file that are deleted (Delta protocol, "Deletion Vectors"). */
export interface DeletionVector {
  readonly storageType: string
  readonly pathOrInlineDv: string
  readonly offset?: number
  readonly sizeInBytes: number
  readonly cardinality: number
}

export interface AddFile {
  /** Relative to the table's folder, decoded. */
  readonly path: string
  readonly size: number
  readonly modifiedMs: number
  readonly dataChange: boolean
  readonly partitionValues: Readonly<Record<string, string | null>>
  /** Delta's statistics as the JSON text that stands in the log, or null. */
  readonly statistics: string | null
  readonly deletionVector: DeletionVector | null
}

export interface RemoveFile {
  readonly path: string
  readonly deletedMs: number | null
  readonly dataChange: boolean
  readonly deletionVector: DeletionVector | null
  readonly size: number | null
  readonly partitionValues: Readonly<Record<string, string | null>>
  readonly rowCount: number | null
}

/** Which batch of an application wrote last. */
export interface Txn {
  readonly appId: string
  readonly version: number
  readonly lastUpdatedMs: number | null
}

/** Everything one version says. `commitInfo` is free JSON. */
export interface VersionActions {
  readonly commitInfo: Readonly<Record<string, unknown>> | null
  readonly metadata: Metadata | null
  readonly protocol: Protocol | null
  readonly txns: readonly Txn[]
  /** In the order in which they stand in the file: a table source numbers them. */
  readonly adds: readonly AddFile[]
  readonly removes: readonly RemoveFile[]
}
