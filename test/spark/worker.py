"""One Spark session that does what it is told, and delta-rs beside it.

A command is a line of JSON on stdin: {"id": 7, "do": "stream", ...}; its answer is a line on stdout: {"id": 7, "answer": ...} or
{"id": 7, "failed": "what went wrong"}. Several run at a time. The end of stdin is the end of this process and of everything it
started, so nothing is left when the test that feeds it dies.

Rows are compared as the texts that Spark casts them to, in UTC, which lose nothing; a double as its eight bytes, and bytes in hex.
"""
import json
import os
import re
import signal
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # whatever Spark's own processes print is noise

import deltalake  # noqa: E402
from deltalake import DeltaTable, QueryBuilder  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from session import ORDERS_COLUMNS, merge_newest, spark_session  # noqa: E402

AT_A_TIME = 2


class Stop(Exception):
    """Raised in foreachBatch: the query dies there."""


def stream(c):
    """Runs one of three queries over a table, or over orders in a topic on Kafka, until it is caught up or dies.

    query     copy: foreachBatch that appends each batch, with the pair (appId, batch id) or plainly
              merge: foreachBatch that merges the newest event of each order
              append: the native sink
    die       null, before-write or after-write: where the next batch dies. The native sink has no place to raise an error in, so
              there after-write takes the newest commit of the checkpoint away, which is what such a death leaves.
    """
    path = lambda name: os.path.join(c["workspace"], "tables", name)  # noqa: E731
    checkpoint = os.path.join(c["workspace"], "checkpoints", c["name"])
    sink = path(c["sink"])
    die = c.get("die")

    def copy(batch, batch_id):
        if die == "before-write":
            raise Stop()
        writer = batch.write.format("delta").mode("append")
        if c["idempotent"]:
            writer = writer.option("txnAppId", c["appId"]).option("txnVersion", batch_id)
        writer.save(sink)
        if die == "after-write":
            raise Stop()

    def merge(batch, batch_id):
        if die == "before-write":
            raise Stop()
        merge_newest(batch, sink)
        if die == "after-write":
            raise Stop()

    if c["query"] == "merge":
        SPARK.sql(f"CREATE TABLE IF NOT EXISTS delta.`{sink}` ({ORDERS_COLUMNS}) USING delta")
    reader = SPARK.readStream.format("kafka" if c.get("kafka") else "delta")
    for key, value in (c.get("options") or {}).items():
        reader = reader.option(key, value)
    source = orders_of(reader, c["kafka"], c["source"]) if c.get("kafka") else reader.load(path(c["source"]))
    if c.get("where"):
        source = source.where(c["where"])
    writer = source.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    before = numbers(checkpoint, "commits")
    try:
        if c["query"] == "append":
            writer.format("delta").start(sink).awaitTermination()
        else:
            writer.foreachBatch(copy if c["query"] == "copy" else merge).start().awaitTermination()
    except Exception as error:
        text = str(error)
        if die and "Stop" in text:
            return {"died": True, "error": None}
        line = re.sub(r".*terminated with exception: ", "", text.split("\n")[0])
        named = re.match(r"\[([A-Z][A-Z0-9_.]+)\] (.*)", line)
        return {"died": False, "error": {"condition": named.group(1) if named else None, "sentence": (named.group(2) if named else line)[:300]}}
    if c["query"] == "append" and die == "after-write":
        newest = max(numbers(checkpoint, "commits") - before, default=None)
        if newest is not None:
            os.remove(f"{checkpoint}/commits/{newest}")
            crc = f"{checkpoint}/commits/.{newest}.crc"
            if os.path.exists(crc):
                os.remove(crc)
            return {"died": True, "error": None}
    return {"died": False, "error": None}


def orders_of(reader, brokers, topic):
    """The records of a topic as rows of bronze_orders."""
    records = reader.option("kafka.bootstrap.servers", brokers).option("subscribe", topic).option("startingOffsets", "earliest").load()
    order = F.from_json(F.col("value").cast("string"), ORDERS_COLUMNS).alias("o")
    return records.select(order, "topic", "partition", "offset", "timestamp").select("o.*", "topic", "partition", "offset", "timestamp")


def numbers(checkpoint, log):
    folder = f"{checkpoint}/{log}"
    return {int(n) for n in os.listdir(folder) if n.isdigit()} if os.path.isdir(folder) else set()


def read(c):
    """The rows of a table at each of some versions, as Spark reads them."""
    found = {}
    for version in c["versions"]:
        frame = SPARK.read.format("delta").option("versionAsOf", version).load(c["path"])
        found[version] = spark_rows(frame)
    return found


def spark_rows(frame):
    def as_text(name, kind):
        column = F.col(f"`{name}`")
        if kind == "binary":
            column = F.hex(column)
        return column if kind == "double" else column.cast("string")

    rows = frame.select([as_text(name, kind).alias(name) for name, kind in frame.dtypes]).collect()
    return [[double_text(value) if isinstance(value, float) else value for value in row] for row in rows]


def double_text(value):
    return "NaN" if value != value else struct.pack(">d", value).hex()


def read_delta_rs(c):
    """The same, as delta-rs reads them."""
    return {version: arrow_rows(DeltaTable(c["path"], version=version).to_pyarrow_table()) for version in c["versions"]}


def arrow_rows(table):
    columns = []
    for field, column in zip(table.schema, table.columns):
        kind = str(field.type)
        if kind.startswith("timestamp"):
            assert field.type.unit == "us" and field.type.tz == "UTC", kind
            columns.append([None if v is None else timestamp_text(v) for v in column.cast("int64").to_pylist()])
        else:
            columns.append([plain_text(v) for v in column.to_pylist()])
    return [list(row) for row in zip(*columns)] if columns else []


def plain_text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, bytes):
        return value.hex().upper()
    if hasattr(value, "as_tuple"):
        return format(value, "f")
    return str(value)


def timestamp_text(micros):
    """As Spark's cast to string in UTC."""
    text = (datetime(1970, 1, 1) + timedelta(microseconds=micros)).isoformat(" ")
    return text.rstrip("0") if "." in text else text


def count_where(c):
    """For each condition: how many rows Spark finds, of how many files it read, and how many rows delta-rs finds."""
    table = DeltaTable(c["path"])
    found = []
    for condition in c["conditions"]:
        frame = SPARK.read.format("delta").load(c["path"]).where(condition["spark"]).select(F.lit(1))
        rows = len(frame.collect())
        answer = {"spark": rows, "files": files_read(frame), "deltaRs": None}
        if condition["deltaRs"]:
            result = QueryBuilder().register("t", table).execute(f"SELECT count(*) AS n FROM t WHERE {condition['deltaRs']}").read_all()
            answer["deltaRs"] = result["n"][0].as_py()
        found.append(answer)
    return found


def files_read(frame):
    """The files that were left after the statistics had been looked at."""
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    total = 0
    for i in range(leaves.size()):
        metric = leaves.apply(i).metrics().get("numFiles")
        if metric.isDefined():
            total += metric.get().value()
    return total


def sql(c):
    """Runs a statement over a table, which stands in it as {table}; VACUUM may keep less than a week here."""
    SPARK.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    # VACUUM lists in so many tasks, ten thousand unless it is told.
    SPARK.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")
    return [[None if value is None else str(value) for value in row] for row in SPARK.sql(c["statement"].format(table=f"delta.`{c['path']}`")).collect()]


def history(c):
    """What DESCRIBE HISTORY says, oldest first."""
    rows = SPARK.sql(f"DESCRIBE HISTORY delta.`{c['path']}`").select("version", "operation", "operationMetrics").collect()
    return [{"version": r["version"], "operation": r["operation"], "metrics": r["operationMetrics"]} for r in sorted(rows, key=lambda r: r["version"])]


def versions(_):
    return {"spark": SPARK.version, "deltaRs": deltalake.__version__}


COMMANDS = {f.__name__: f for f in (stream, read, read_delta_rs, count_where, sql, history, versions)}
WRITING = threading.Lock()


def answer(line):
    command = json.loads(line)
    try:
        said = {"id": command["id"], "answer": COMMANDS[command["do"]](command)}
    except BaseException as error:
        said = {"id": command["id"], "failed": f"{type(error).__name__}: {str(error)[:2000]}"}
    with WRITING:
        ANSWERS.write(json.dumps(said) + "\n")


QUICK_ON_A_FEW_ROWS = [
    ("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
    # Compiling a plan would take longer than interpreting it.
    ("spark.sql.codegen.wholeStage", "false"),
    ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
    ("spark.sql.adaptive.enabled", "false"),
]
SPARK = spark_session(sys.argv[1], "1g", QUICK_ON_A_FEW_ROWS)
with ThreadPoolExecutor(AT_A_TIME) as pool:
    for line in sys.stdin:
        pool.submit(answer, line)
    pool.shutdown(wait=False, cancel_futures=True)
    # The JVM is in this process's group, and so is whatever it started.
    os.killpg(os.getpgrp(), signal.SIGKILL)
