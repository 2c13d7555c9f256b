package io.verbena.rdma.roce.device;

import io.verbena.rdma.verbs.RdmaException;

/** Numbers and words of every device of this provider. */
final class DeviceLimits
{
    /** Of the one port. */
    static final int PORT_NUMBER = 1;
    /** Deepest send, receive or shared receive queue. */
    static final int MAX_QUEUE_PAIR_REQUESTS = 1 << 14;
    /** Deepest completion queue. */
    static final int MAX_COMPLETIONS = 1 << 20;
    /** Longest payload that is copied when it is staged. */
    static final int MAX_INLINE_BYTES = 1024;

    private DeviceLimits()
    {
    }

    static void check(final String what, final int value, final int least, final int most)
    {
        if (value < least || value > most)
        {
            throw new RdmaException(what + "=" + value + " is not from " + least + " to " + most);
        }
    }
}
