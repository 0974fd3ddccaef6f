"""What worker.py and bench/peers.py share: a Spark session with Delta on a small machine, and the query `orders` in Spark's words."""
import glob
import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ORDERS_COLUMNS = "order_id INT, customer_id STRING, status STRING, amount DECIMAL(10,2), event_time TIMESTAMP"


def spark_session(jars, memory, more_settings=()):
    """A session with the jars of a folder; `more_settings` are pairs of a name and a value."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.appName("streamtop")
        .master("local[2]")
        .config("spark.jars", ",".join(sorted(glob.glob(os.path.join(os.path.abspath(jars), "*.jar")))))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.driver.memory", memory)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    for name, value in more_settings:
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def merge_newest(batch, sink):
    """The foreachBatch of `orders`: merges the newest event of each order into the table at `sink`."""
    newest = (
        batch.groupBy("order_id")
        .agg(F.max_by(F.struct("customer_id", "status", "amount", "event_time"), "event_time").alias("e"))
        .select("order_id", "e.*")
    )
    newest.createOrReplaceTempView("newest_events")
    merge(batch.sparkSession, sink, "newest_events")


def merge(spark, sink, source):
    """Merges a table or view with the columns of `orders`: newer events win, unknown orders are added."""
    spark.sql(
        f"MERGE INTO delta.`{sink}` t USING {source} s ON t.order_id = s.order_id "
        "WHEN MATCHED AND s.event_time > t.event_time THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
