"""The page of `obep serve`: built files (`make page` writes them from the folder page/), and their routes."""
