"""`obep serve`: the embedded engine as a service over HTTP and WebSocket, durable by a log and snapshots."""
