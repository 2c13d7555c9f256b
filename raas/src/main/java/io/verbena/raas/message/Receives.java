package io.verbena.raas.message;

import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import org.agrona.concurrent.UnsafeBuffer;

/** Where the messages to one queue pair arrive; a slot is one buffer. One owner thread. */
public interface Receives
{
    /** Messages that the peer may have under way here at once: for so many there is always a buffer. */
    int credits();

    /** Has the queue pair take its receives from here. */
    void addTo(QueuePairOptions options);

    /** Posts what the credits need; before the peer can send. */
    void open(QueuePair queuePair);

    /** A message is in a slot: it stays there until {@link #post}. Returns false when the peer had no credit for it. */
    boolean take(int slot);

    /**
     * Takes receives for messages of an endpoint, beside those of the credits. Returns false when so many are not left.
     */
    boolean reserve(int receives);

    /** Gives them back: no message comes any more for which they were taken. */
    void release(int receives);

    /** Posts a slot whose message is done with; before the peer has its credit back. */
    void post(int slot);

    UnsafeBuffer buffer(int slot);

    int offset(int slot);

    /** Whether messages that arrived may get lost when the queue pair is closed before their completions are polled. */
    boolean isShared();

    /** The queue pair is closed: what its messages held is free, at the latest when the context is polled next. */
    void close();
}
