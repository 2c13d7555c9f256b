package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairState;

import java.util.function.Consumer;

/** A DC target of a {@link RoceEngine}. State and counts may be read by any thread; the rest is the engine's. */
final class RoceDcTarget implements DcTarget
{
    private final ProtectionDomain domain;
    private final DcTargetOptions options;
    private final int number;
    private final Consumer<RoceDcTarget> closing;
    private final ReceiveQueue receiveQueue;
    private final RoceCompletionQueue.Owner owner = new Owner();
    private volatile QueuePairState state = QueuePairState.RTR;
    private volatile long accessKeyViolations;

    /** @param closing called by each close. */
    RoceDcTarget(
        final ProtectionDomain domain,
        final DcTargetOptions options,
        final int number,
        final Consumer<RoceDcTarget> closing)
    {
        this.domain = domain;
        this.options = options;
        this.number = number;
        this.closing = closing;
        receiveQueue = receives().receives(number);
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    void state(final QueuePairState newState)
    {
        state = newState;
    }

    @Override
    public long accessKeyViolations()
    {
        return accessKeyViolations;
    }

    /** Whether a request names the right key; counts the wrong ones. */
    boolean isKey(final long accessKey)
    {
        final boolean isRight = accessKey == options.accessKey();
        if (!isRight)
        {
            accessKeyViolations++;
        }
        return isRight;
    }

    @Override
    public void close()
    {
        closing.accept(this);
    }

    ProtectionDomain domain()
    {
        return domain;
    }

    DcTargetOptions options()
    {
        return options;
    }

    RoceCompletionQueue completions()
    {
        return (RoceCompletionQueue)options.receiveCompletions();
    }

    RoceSharedReceiveQueue receives()
    {
        return (RoceSharedReceiveQueue)options.sharedReceiveQueue();
    }

    ReceiveQueue receiveQueue()
    {
        return receiveQueue;
    }

    RoceCompletionQueue.Owner owner()
    {
        return owner;
    }

    @Override
    public String toString()
    {
        return "RoceDcTarget{number=" + number + ", state=" + state + ", accessKeyViolations=" + accessKeyViolations +
            '}';
    }

    /** Whom its completions belong to, whichever context they come from. */
    private final class Owner extends RoceCompletionQueue.Owner
    {
        @Override
        int number()
        {
            return number;
        }

        @Override
        void freeSends(final long position)
        {
            // sends nothing
        }

        @Override
        void freeReceive()
        {
            receiveQueue.release();
        }
    }
}
