package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.function.BooleanSupplier;

/** A requester and a responder with a queue pair each, connected by hand; and short ways to post, to wait, to check. */
final class InteropPair implements AutoCloseable
{
    static final int QKEY = 0x1234;
    private static final long PATIENCE_NS = 4_000_000_000L;
    /** Shortly before they wrap. */
    private static final int FIRST_SEQUENCE = 0xFF_FFF0;

    final InteropSide a;
    final InteropSide b;
    final EngineSide ours;
    int mtu = 1024;
    int depth = 8;
    /** As codes: 4.1 us * 2^15 is 134 ms. */
    int timeout = 15;
    int retries = 6;
    int rnrRetries = 6;
    /** As a code: 0.64 ms. */
    int rnrTimer = 12;
    int rights = AccessFlags.ALL_REMOTE;
    QueuePair qa;
    QueuePair qb;

    InteropPair(final InteropSide requester, final InteropSide responder, final EngineSide ours)
    {
        a = requester;
        b = responder;
        this.ours = ours;
        ours.wire.none();
        a.polled.clear();
        b.polled.clear();
        a.region().segment().fill((byte)0);
        b.region().segment().fill((byte)0);
    }

    InteropPair connect(final QueuePairType type)
    {
        qa = a.createQueuePair(type, null);
        qb = b.createQueuePair(type, null);
        bringUp(qb, a, qa.number(), type);
        bringUp(qa, b, qb.number(), type);
        return this;
    }

    private void bringUp(final QueuePair queuePair, final InteropSide peer, final int number, final QueuePairType type)
    {
        final QueuePairAttributes init =
            new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1);
        queuePair.modify(QueuePairType.UD == type ? init.qkey(QKEY) : init.accessFlags(rights));
        final QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
        if (QueuePairType.UD != type)
        {
            ready.pathMtuBytes(mtu).destination(peer.address()).destinationNumber(number).rqPsn(FIRST_SEQUENCE);
        }
        queuePair.modify(QueuePairType.RC == type ?
            ready.maxDestinationReadAtomic(depth).minRnrTimer(rnrTimer) : ready);
        final QueuePairAttributes sending =
            new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(FIRST_SEQUENCE);
        queuePair.modify(QueuePairType.RC == type ? sending.timeout(timeout).retryCount(retries)
            .rnrRetry(rnrRetries).maxReadAtomic(depth) : sending);
    }

    void post(final Runnable... requests)
    {
        qa.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        equal("post", PostStatus.OK, qa.complete());
    }

    void receive(final long wrId, final long offset, final int lengthBytes)
    {
        equal("receive", PostStatus.OK, qb.postReceive(wrId, b.at(offset), lengthBytes, b.localKey()));
    }

    /** Lets both work until something holds. */
    boolean reach(final BooleanSupplier condition, final long timeoutNs)
    {
        final long endNs = System.nanoTime() + timeoutNs;
        while (!condition.getAsBoolean())
        {
            final boolean hasWorked = ours.drive() | a.poll() | b.poll();
            if (System.nanoTime() - endNs > 0)
            {
                return condition.getAsBoolean();
            }
            if (!hasWorked)
            {
                ours.rest();
            }
        }
        return true;
    }

    void await(final InteropSide side, final int count)
    {
        if (!reach(() -> side.polled.size() >= count, PATIENCE_NS))
        {
            throw new AssertionError(side + ": " + side.polled.size() + " of " + count + " completions in " +
                PATIENCE_NS / 1_000_000 + " ms: " + tail(side) + "; " + qa + " " + qb + " " +
                ours.engine.counters());
        }
    }

    private static String tail(final InteropSide side)
    {
        return side.polled.subList(Math.max(0, side.polled.size() - 3), side.polled.size()).toString();
    }

    /** The one completion of a requester, or the n-th. */
    InteropSide.Completion done(final InteropSide side, final int index)
    {
        await(side, index + 1);
        return side.polled.get(index);
    }

    void succeeded(final InteropSide side, final int index)
    {
        status(side, index, WorkCompletionStatus.SUCCESS);
    }

    void status(final InteropSide side, final int index, final int wanted)
    {
        final int status = done(side, index).status();
        if (wanted != status)
        {
            throw new AssertionError(side + " has " + WorkCompletionStatus.text(status) + ", not " +
                WorkCompletionStatus.text(wanted));
        }
    }

    static void equal(final String what, final long wanted, final long actual)
    {
        if (wanted != actual)
        {
            throw new AssertionError(what + " is " + actual + ", not " + wanted);
        }
    }

    /** The responder's bytes are the requester's. */
    void same(final String what, final long atA, final long atB, final long lengthBytes)
    {
        final long differs = a.memory(atA, lengthBytes).mismatch(b.memory(atB, lengthBytes));
        if (differs >= 0)
        {
            throw new AssertionError(what + ": byte " + differs + " of " + lengthBytes + " differs");
        }
    }

    /** Lets everything under way arrive. */
    void settle(final long durationNs)
    {
        reach(() -> false, durationNs);
    }

    @Override
    public void close()
    {
        ours.wire.none();
        qa.close();
        qb.close();
        settle(2_000_000);
        a.polled.clear();
        b.polled.clear();
    }
}
