"""For programs that work with frames: `obep.detect`, its `Result`, and `obep.stream` for event loops."""
