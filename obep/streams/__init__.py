"""Where items come from and where occurrences go when the engine is embedded.

In come URIs and their settings; out go batches of records (sources), and payloads with their ids are carried
away (sinks). One small module for each kind; brokers' packages are imported only when they are used. Nothing
here knows patterns, ontologies or time.
"""
