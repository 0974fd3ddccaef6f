/** The table orders of the nine events, as Spark's `show()` draws it and as the README prints it; it ends with an empty line. */
export const ORDERS_SHOWN = `\
+--------+-----------+------+------+-------------------+
|order_id|customer_id|status|amount|         event_time|
+--------+-----------+------+------+-------------------+
|    1001|        C01|  paid| 25.50|2026-10-01 10:05:00|
|    1002|        C02|placed| 12.00|2026-10-01 09:40:00|
|    1003|        C03|placed| 31.00|2026-10-01 09:55:00|
|    1004|        C01|placed| 40.00|2026-10-01 10:20:00|
|    1005|        C02|placed| 18.25|2026-10-01 11:30:00|
|    1006|        C03|placed| 22.00|2026-10-01 09:50:00|
|    1007|        C02|placed| 15.00|2026-10-01 10:45:00|
|    1008|        C01|placed| 12.00|2026-10-01 12:40:00|
+--------+-----------+------+------+-------------------+

`
