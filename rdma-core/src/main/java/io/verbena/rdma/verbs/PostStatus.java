package io.verbena.rdma.verbs;

/**
 * Result of ringing a doorbell or posting a receive. Negative: nothing was posted, and the constant says what to do.
 */
public final class PostStatus
{
    /** Posted. */
    public static final int OK = 0;
    /** No room: poll the completion queue and try again. */
    public static final int QUEUE_FULL = -1;
    /** The queue pair is in a state that takes no such request: connect it first, or replace it. */
    public static final int INVALID_STATE = -2;

    private PostStatus()
    {
    }
}
