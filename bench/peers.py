"""Spark (one warm session) and delta-rs on the work of bench/peers.ts, timed.

Takes one JSON object as its argument, says on stderr where it is, and writes one JSON object of milliseconds to stdout. Neither
Spark's local file system nor delta-rs syncs what it writes; streamtop does.
"""
import json
import os
import sys
import time

OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever Spark prints is noise

import pyarrow as pa  # noqa: E402
from deltalake import DeltaTable, write_deltalake  # noqa: E402

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "spark"))
from session import ORDERS_COLUMNS, merge, merge_newest, spark_session  # noqa: E402

TASK = json.loads(sys.argv[1])
FOLDER = TASK["folder"]
ROUNDS = TASK["rounds"]
TIMES = {}


def timed(name, work, rounds):
    """Runs `work(round)` some times after one that does not count."""
    print(f"  {name}", file=sys.stderr, flush=True)
    for n in range(rounds + 1):
        started = time.perf_counter()
        work(n)
        if n > 0:
            TIMES.setdefault(name, []).append((time.perf_counter() - started) * 1000)


def path(name):
    return os.path.join(FOLDER, name)


def order_rows(first, count):
    """Rows with the columns of bronze_orders."""
    at = 1_790_000_000_000_000
    return pa.table(
        {
            "order_id": pa.array(range(first, first + count), pa.int32()),
            "customer_id": [f"C{i % 40:02d}" for i in range(count)],
            "status": ["placed"] * count,
            "amount": pa.array(["25.50"] * count).cast(pa.decimal128(10, 2)),
            "event_time": pa.array([at + i for i in range(count)], pa.timestamp("us", "UTC")),
            "topic": ["orders"] * count,
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(first, first + count), pa.int64()),
            "timestamp": pa.array([at] * count, pa.timestamp("us", "UTC")),
        }
    )


def copy_to(sink):
    def copy(batch, batch_id):
        batch.write.format("delta").mode("append").option("txnAppId", "copy").option("txnVersion", batch_id).save(sink)

    return copy


def one_row_batches(names, source, start):
    """Queries that run on one after the other's table; each round adds one row to `source` and waits for the last of them."""
    queries = {name: start(name) for name in names}
    done = {name: -1 for name in names}
    for n in range(ROUNDS + 4):
        write_deltalake(source, order_rows(10_000 + n, 1), mode="append")
        waiting = set(names)
        until = time.time() + 120
        while waiting and time.time() < until:
            time.sleep(0.02)
            for name in list(waiting):
                if queries[name].exception():
                    raise queries[name].exception()
                for progress in queries[name].recentProgress:
                    if progress.batchId > done[name] and progress.numInputRows > 0:
                        done[name] = progress.batchId
                        waiting.discard(name)
                        if n >= 4:
                            key = f"spark {name}" if len(names) > 1 else "spark alone"
                            TIMES.setdefault(key, []).append(progress.durationMs["triggerExecution"])
    for query in queries.values():
        query.stop()


def spark_work():
    spark = spark_session(TASK["jars"], "2g")

    def stream(name, source, sink, by):
        reader = spark.readStream.format("delta").load(path(source))
        writer = reader.writeStream.option("checkpointLocation", path(f"checkpoint_{name}"))
        return (writer.format("delta").start(path(sink)) if by is None else writer.foreachBatch(by).start())

    print("  spark: 1-row batches, table to table, alone", file=sys.stderr, flush=True)
    write_deltalake(path("alone"), order_rows(1, 1))
    one_row_batches(["alone"], path("alone"), lambda name: stream(name, "alone", "alone_sink", None))

    print("  spark: 1-row batches, three queries at once", file=sys.stderr, flush=True)
    write_deltalake(path("incoming"), order_rows(1, 1))
    write_deltalake(path("bronze"), order_rows(1, 1))
    spark.sql(f"CREATE TABLE delta.`{path('newest')}` ({ORDERS_COLUMNS}) USING delta")
    sources = {
        "bronze_orders": ("incoming", "bronze", None),
        "events_copy": ("bronze", "copy", copy_to(path("copy"))),
        "orders": ("bronze", "newest", lambda batch, _: merge_newest(batch, path("newest"))),
    }
    one_row_batches(list(sources), path("incoming"), lambda name: stream(name, *sources[name]))

    def count(_):
        frame = spark.read.format("delta").load(TASK["sparkTable"])
        assert frame.count() == 1_000_000 and frame.distinct().count() == 1_000_000

    timed("spark count", count, 3)
    timed("spark merge", lambda n: merge(spark, TASK["sparkTable"], f"delta.`{TASK['changes'][n]}`"), 3)
    spark.stop()


def delta_rs_work():
    timed("delta-rs append 1", lambda n: write_deltalake(path("rs_one"), order_rows(n, 1), mode="append"), ROUNDS * 4)
    many = order_rows(0, 10_000)
    timed("delta-rs append 10000", lambda _: write_deltalake(path("rs_many"), many, mode="append"), ROUNDS)

    def merge_changes(n):
        source = DeltaTable(TASK["changes"][n]).to_pyarrow_table()
        (
            DeltaTable(TASK["deltaRsTable"])
            .merge(source, "t.order_id = s.order_id", source_alias="s", target_alias="t")
            .when_matched_update_all("s.event_time > t.event_time")
            .when_not_matched_insert_all()
            .execute()
        )

    timed("delta-rs merge", merge_changes, 3)


delta_rs_work()
spark_work()
OUT.write(json.dumps(TIMES))
OUT.close()
