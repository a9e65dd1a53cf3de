"""States while they run: what holds, since when; the windows and groups that they look at."""
