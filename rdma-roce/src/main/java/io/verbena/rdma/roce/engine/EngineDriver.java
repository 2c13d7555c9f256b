package io.verbena.rdma.roce.engine;

/**
 * Decides which thread drives an engine. Driving is calling {@link RoceEngine#onPacket}, {@link RoceEngine#doWork} or
 * {@link RoceEngine#nextDeadlineNs}: one thread at a time. The engine calls {@link #onPosted} after it has queued what
 * was posted and {@link #drive} when a completion queue is polled empty, and puts control verbs (create, modify,
 * register, close) between {@link #enter} and {@link #exit}. Posting and polling run beside a thread that drives.
 *
 * <p>No wake-up may be lost: a thread that stops driving, at the end of {@link #drive} as of {@link #exit}, lets the
 * next one in first and then asks {@link RoceEngine#hasPosted}; when that is true it drives once more, or finds that
 * another thread does.
 *
 * <p>A thread that drives may be called back: a {@link CompletionListener} may post, poll and call control verbs. Then
 * {@link #drive} returns at once, and {@link #enter} and {@link #exit} nest.
 */
public interface EngineDriver
{
    /** For engines that one thread uses, which calls {@link RoceEngine#doWork} itself. */
    EngineDriver NONE = new EngineDriver()
    {
        @Override
        public void drive()
        {
            // the owner does
        }

        @Override
        public void enter()
        {
            // alone already
        }

        @Override
        public void exit()
        {
            // stays alone
        }
    };

    /** Drives if no thread does, this one included. Never waits and allocates nothing. */
    void drive();

    /** Something was posted: drives now, or sees to it that somebody does soon. As {@link #drive} else. */
    default void onPosted()
    {
        drive();
    }

    /**
     * Waits until no other thread drives, and keeps others from driving until {@link #exit}.
     *
     * @throws io.verbena.rdma.verbs.RdmaException when another thread has been driving until a deadline;
     *                                             {@link #exit} must not be called then.
     */
    void enter();

    /** Ends what {@link #enter} began; the outermost call looks for what was posted meanwhile. */
    void exit();
}
