package io.verbena.rdma.conformance.perf;

import java.util.Locale;

/** How clients get the next number. Each call by SEND has what those before it have, and one thing more. */
public enum SequencerVariant
{
    /** FETCH_ADD on one word of the responder, each request signalled and posted alone. */
    ATOMICS,
    /** A SEND of 8 bytes there and one back, each signalled and posted alone. */
    CALLS,
    /** Only every sixteenth SEND of a queue pair is signalled. */
    UNSIGNALED,
    /** The payload travels in the work request. */
    INLINE,
    /** What a client asks for at once, and the answers to what was polled at once, share a doorbell. */
    DOORBELL_BATCHING,
    /** No payload at all: the number is the immediate. */
    HEADER_ONLY;

    /** @return as people read it, with a plus where it adds to the one before. */
    public String text()
    {
        final String words = name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return compareTo(CALLS) > 0 ? "+ " + words : words;
    }

    boolean has(final SequencerVariant other)
    {
        return this != ATOMICS && compareTo(other) >= 0;
    }
}
