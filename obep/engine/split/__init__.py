"""Split the work of a plan by its keys: for the buckets of Spark and for the processes of one machine."""
