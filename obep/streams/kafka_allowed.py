"""Options of Kafka's clients that a project's obep.toml may set, each with what it means.

An option of this list changes how messages are fetched, sent, secured or counted. None of them loads a
library or a class, runs a program, or names another broker than the URI does. Options that name a file obey
the rule for files of the project's folder. All other options need --allow-exec.

The names are those of librdkafka and of Java's consumer; where both have one, it means the same.
"""

from __future__ import annotations

from collections.abc import Mapping

OPTIONS: Mapping[str, str] = {
    # ── the client and its group ──────────────────────────────────────────────────────────────────
    "client.id": "the name of the client in the broker's log",
    "client.rack": "where the client stands, so that it reads from the nearest replica",
    "group.id": "the group under which the broker shows how far a source has read",
    "group.instance.id": "the name of this member of the group",
    "group.protocol": "how members of a group agree: classic or consumer",
    "session.timeout.ms": "after how much silence a member leaves its group",
    "heartbeat.interval.ms": "how often a member says that it lives",
    "max.poll.interval.ms": "how long a member may take for its messages",
    "max.poll.records": "how many messages one call returns",
    # ── connections ───────────────────────────────────────────────────────────────────────────────
    "broker.address.family": "any, v4 or v6",
    "broker.address.ttl": "how long the address of a broker is remembered",
    "client.dns.lookup": "which of the addresses of a name are tried",
    "connections.max.idle.ms": "after how much silence a connection is closed",
    "reconnect.backoff.ms": "how long to wait before connecting again",
    "reconnect.backoff.max.ms": "the longest such wait",
    "request.timeout.ms": "how long to wait for an answer",
    "retry.backoff.ms": "how long to wait before asking again",
    "retry.backoff.max.ms": "the longest such wait",
    "receive.buffer.bytes": "the socket's buffer for receiving",
    "send.buffer.bytes": "the socket's buffer for sending",
    "socket.connection.setup.timeout.ms": "how long a connection may take to be made",
    "socket.connection.setup.timeout.max.ms": "the longest such time",
    "socket.keepalive.enable": "whether TCP tests silent connections",
    "socket.max.fails": "after how many failures a connection is closed",
    "socket.nagle.disable": "whether small packets are sent at once",
    "socket.receive.buffer.bytes": "the socket's buffer for receiving",
    "socket.send.buffer.bytes": "the socket's buffer for sending",
    "socket.timeout.ms": "how long to wait for an answer",
    "api.version.request": "whether the broker is asked which requests it knows",
    "api.version.request.timeout.ms": "how long that may take",
    "api.version.fallback.ms": "how long the fallback is used after that",
    "broker.version.fallback": "the version of a broker that cannot be asked",
    # ── what is known of topics ───────────────────────────────────────────────────────────────────
    "allow.auto.create.topics": "whether a topic that is not there is made",
    "metadata.max.age.ms": "how long what is known of topics is used",
    "metadata.recovery.strategy": "none or rebootstrap, where no known broker answers",
    "metadata.recovery.rebootstrap.trigger.ms": "after how long that is done",
    "topic.metadata.refresh.interval.ms": "how often it is asked for",
    "topic.metadata.refresh.fast.interval.ms": "how often, after a leader is lost",
    "topic.metadata.refresh.sparse": "whether only the topics in use are asked for",
    "topic.metadata.propagation.max.ms": "how long a new topic may be unknown",
    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    "auto.offset.reset": "where to read from if the broker has dropped the wanted place",
    "check.crcs": "whether checksums are compared",
    "default.api.timeout.ms": "how long a call of the client may take",
    "exclude.internal.topics": "whether Kafka's own topics are left out",
    "fetch.error.backoff.ms": "how long to wait after an error",
    "fetch.max.bytes": "the most bytes of one answer",
    "fetch.max.wait.ms": "how long a broker may gather bytes",
    "fetch.message.max.bytes": "the most bytes of one partition in an answer",
    "fetch.min.bytes": "the fewest bytes of an answer",
    "fetch.queue.backoff.ms": "how long to wait while the queue is full",
    "fetch.wait.max.ms": "how long a broker may gather bytes",
    "isolation.level": "read_committed or read_uncommitted",
    "max.partition.fetch.bytes": "the most bytes of one partition in an answer",
    "queued.max.messages.kbytes": "how much is fetched ahead",
    "queued.min.messages": "how many messages are fetched ahead",
    "receive.message.max.bytes": "the longest answer that is taken",
    # ── writing ───────────────────────────────────────────────────────────────────────────────────
    "acks": "how many replicas must have a message",
    "batch.num.messages": "the most messages of a batch",
    "batch.size": "the most bytes of a batch",
    "compression.codec": "none, gzip, snappy, lz4 or zstd",
    "compression.level": "how hard to compress",
    "compression.type": "none, gzip, snappy, lz4 or zstd",
    "delivery.timeout.ms": "how long a message may take to be delivered",
    "enable.gapless.guarantee": "whether a message that is lost ends the producer",
    "enable.idempotence": "whether a message that is sent again is written once",
    "linger.ms": "how long messages wait for others",
    "max.in.flight": "how many requests may be without an answer",
    "max.in.flight.requests.per.connection": "how many requests may be without an answer",
    "message.copy.max.bytes": "up to which length a message is copied",
    "message.max.bytes": "the longest request",
    "message.send.max.retries": "how often a message is sent again",
    "message.timeout.ms": "how long a message may take to be delivered",
    "partitioner": "how a message's partition is chosen from its key",
    "queue.buffering.max.kbytes": "how many bytes may wait to be sent",
    "queue.buffering.max.messages": "how many messages may wait to be sent",
    "queue.buffering.max.ms": "how long messages wait for others",
    "request.required.acks": "how many replicas must have a message",
    "retries": "how often a message is sent again",
    "sticky.partitioning.linger.ms": "how long messages without a key go to one partition",
    "transaction.timeout.ms": "how long a transaction may last",
    "transactional.id": "the name of the producer of transactions",
    # ── who we are, and TLS ───────────────────────────────────────────────────────────────────────
    "security.protocol": "plaintext, ssl, sasl_plaintext or sasl_ssl",
    "sasl.username": "the user",
    "sasl.password": "the password",
    "sasl.login.connect.timeout.ms": "how long a connection to the server of tokens may take",
    "sasl.login.read.timeout.ms": "how long its answer may take",
    "sasl.login.retry.backoff.ms": "how long to wait before asking it again",
    "sasl.login.retry.backoff.max.ms": "the longest such wait",
    "sasl.oauthbearer.client.id": "the user, for the server of tokens",
    "sasl.oauthbearer.client.secret": "the password, for the server of tokens",
    "sasl.oauthbearer.config": "the claims of a token without a signature, for tests",
    "sasl.oauthbearer.extensions": "what is sent to the broker beside the token",
    "sasl.oauthbearer.method": "default or oidc",
    "sasl.oauthbearer.scope": "what the token is to allow",
    "enable.sasl.oauthbearer.unsecure.jwt": "whether such tokens are made",
    "enable.ssl.certificate.verification": "whether the broker's certificate is checked",
    "ssl.ca.pem": "the certificate of the authority, as text",
    "ssl.certificate.pem": "our certificate, as text",
    "ssl.cipher.suites": "which ciphers may be used",
    "ssl.curves.list": "which curves may be used",
    "ssl.enabled.protocols": "which versions of TLS may be used",
    "ssl.endpoint.identification.algorithm": "whether the certificate must name the host",
    "ssl.key.password": "the password of our key",
    "ssl.key.pem": "our key, as text",
    "ssl.keystore.certificate.chain": "our certificates, as text",
    "ssl.keystore.key": "our key, as text",
    "ssl.keystore.password": "the password of the file with our key",
    "ssl.keystore.type": "PEM, PKCS12 or JKS",
    "ssl.protocol": "the version of TLS",
    "ssl.sigalgs.list": "which signatures may be used",
    "ssl.truststore.certificates": "the certificate of the authority, as text",
    "ssl.truststore.password": "the password of the file with it",
    "ssl.truststore.type": "PEM, PKCS12 or JKS",
    # ── what is counted ───────────────────────────────────────────────────────────────────────────
    "enable.metrics.push": "whether the broker may ask for the client's figures",
    "metrics.num.samples": "how many samples make a figure",
    "metrics.recording.level": "which figures are kept",
    "metrics.sample.window.ms": "how long a sample lasts",
    "statistics.interval.ms": "how often the client says how it stands",
}
"""Options with any value: the client only compares, counts or sends it."""

FILES: Mapping[str, str] = {
    "ssl.ca.location": "the certificate of the authority",
    "ssl.certificate.location": "our certificate",
    "ssl.crl.location": "certificates that are taken back",
    "ssl.key.location": "our key",
    "ssl.keystore.location": "our key and certificate",
    "ssl.truststore.location": "the certificate of the authority",
}
"""Options that name a file."""

URLS: Mapping[str, str] = {"sasl.oauthbearer.token.endpoint.url": "the server of tokens"}
"""Options that name a page of the web; Java's client would read a file: as well."""

STRATEGY, STRATEGIES = "partition.assignment.strategy", ("range", "roundrobin", "cooperative-sticky")
"""How a group shares partitions: librdkafka's words. Java's client would load a class of any other name."""

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
"""How to say who we are. GSSAPI runs kinit, by way of a shell; others load what is installed for them."""
