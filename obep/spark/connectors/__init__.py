"""Sources of Spark: files, brokers, sockets, a heartbeat."""
