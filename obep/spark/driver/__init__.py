"""What runs on the driver of Spark."""
