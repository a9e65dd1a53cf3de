"""The service over HTTP and WebSocket: the application, its server, and who may ask."""
