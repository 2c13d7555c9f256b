package io.verbena.protocol.request;

import io.verbena.raas.identity.PeerIdentity;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One request on its way from a submitting thread through a compute node and back. The state word says who owns it:
 *
 * <pre>
 *   IDLE --submitter--> QUEUED --node--> STARTED --node--> DONE --submitter--> IDLE (again)
 *                         |                 |
 *                         +---submitter-----+--> ABANDONED (for ever; the node drops it when it meets it)
 * </pre>
 *
 * Each step is a compare-and-set, so exactly one side wins: a request that was abandoned while QUEUED is never started,
 * and one that was STARTED is either answered or abandoned with its outcome unknown. Plain fields are written before
 * the step that hands the request over, and read after it. The submitter reuses a request after DONE, never after
 * ABANDONED.
 */
public abstract class NodeRequest
{
    /** With the submitter. */
    public static final int IDLE = 0;
    /** Waiting at a node; may still be withdrawn without a trace. */
    public static final int QUEUED = 1;
    /** Begun by a node. */
    public static final int STARTED = 2;
    /** Answered. */
    public static final int DONE = 3;
    /** The submitter has left it; nobody reads its answer. */
    public static final int ABANDONED = 4;

    private static final VarHandle STATE;

    static
    {
        try
        {
            STATE = MethodHandles.lookup().findVarHandle(NodeRequest.class, "state", int.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    @SuppressWarnings("unused") // through STATE
    private volatile int state;
    private PeerIdentity caller;

    /**
     * Says for whom it is made; before it is handed over.
     *
     * @param newCaller as its connection proved; null, as at first: for this process, which may do everything.
     */
    public final void caller(final PeerIdentity newCaller)
    {
        caller = newCaller;
    }

    /** @return for whom it is made; null: for this process. */
    public final PeerIdentity caller()
    {
        return caller;
    }

    /** @return one of the states; anything the node wrote is visible after DONE was seen. */
    public final int state()
    {
        return (int)STATE.getVolatile(this);
    }

    /** Makes a new, or answered, request ready to be handed over. By the endpoint, before the node can see it. */
    public final void queue()
    {
        assert state() == IDLE || state() == DONE : this;
        STATE.setRelease(this, QUEUED);
    }

    /** Undoes {@link #queue()} for a request that no node has seen. By the endpoint. */
    public final void unqueue()
    {
        STATE.setRelease(this, IDLE);
    }

    /**
     * Takes the request out of the node's hands, if it has not begun: then it has had no effect and will have none.
     *
     * @return true if it was withdrawn; the object itself is spent, because a queue may still hold it.
     */
    public final boolean withdraw()
    {
        return STATE.compareAndSet(this, QUEUED, ABANDONED);
    }

    /**
     * Leaves a request that was begun.
     *
     * @return true if nobody will answer it any more, false if it is DONE.
     */
    public final boolean abandon()
    {
        return STATE.compareAndSet(this, STARTED, ABANDONED);
    }

    /** @return true if the calling node owns it now, false if it was withdrawn. By the node. */
    public final boolean start()
    {
        return STATE.compareAndSet(this, QUEUED, STARTED);
    }

    /** @return true if the submitter has left it. */
    public final boolean isAbandoned()
    {
        return state() == ABANDONED;
    }

    /** Hands a started request back, and wakes its submitter. The node must not touch it afterwards. */
    public final void complete()
    {
        // A full fence goes with it: onDone() reads whether the submitter sleeps after the answer has become visible.
        if (STATE.compareAndSet(this, STARTED, DONE))
        {
            onDone();
        }
    }

    /**
     * Called once by the completing thread right after DONE became visible; must be short, not block and not throw. A
     * submitter that polls may have reused the request by then, so a wake-up may come for nothing.
     */
    protected abstract void onDone();
}
