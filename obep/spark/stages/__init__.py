"""What runs in the workers of Spark."""
