package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * A request on its way: a copy of what was posted, because the slot and the local buffer may be used again while this
 * is still travelling, after an error of its queue pair.
 */
public final class SimRequest
{
    /** Direction of messages, for the lanes of decisions and delays. */
    static final int REQUEST = 0;
    /** Direction of responses. */
    static final int RESPONSE = 1;
    /** Direction of connecting. */
    static final int CONNECT = 2;
    /** Not a completion status: no outcome yet. */
    static final int PENDING = -1;
    /** In place of a count of retries: the fabric's time decides, as the connection service has set it up. */
    static final int RNR_BY_TIME = -1;

    /** The queue pair that posted a request. */
    interface Requester
    {
        SimHost host();

        int number();

        QueuePairType type();

        /** What it is connected to now. */
        Connection connection();

        /** The device with this address, as far as it is there. */
        SimHost find(DeviceAddress address);

        /** Retries after receiver-not-ready, or {@link SimRequest#RNR_BY_TIME}. */
        int rnrRetries();

        /** Time until a request that nobody answers fails. */
        long retryTimeNs();

        /** READs and atomics that it may have outstanding. */
        int maxReadAtomic();

        /** Where decisions about its messages belong. */
        long lane(int direction);

        long decide(SimDecision what, long bound);

        /** A NIC knows when the request arrives; where order is kept, one sent before comes first all the same. */
        void scheduleArrival(SimRequest request, long timeNs);

        /** An unreliable message is complete as soon as it has left. */
        void left(SimRequest request);

        /** It has left, and this is when its completion is there. */
        void left(SimRequest request, long timeNs);

        /** The responder, or the lack of one: sends the outcome back. */
        void respond(SimRequest request, int status);

        /** The NIC has all of a response. */
        void responseIsHere(SimRequest request);

        /** Nobody will answer: after the retry time the request fails. */
        void giveUp(SimRequest request);
    }

    /** What a request travels over, to the one peer of its queue pair. */
    interface Connection
    {
        /** Whether no message passes any more. */
        boolean isCut();

        /** Executes requests of this connection; null as long as the peer is not known or not there. */
        Executor executor();
    }

    /** A DC connection, which a request travels over. */
    interface Session
    {
        boolean isCut();

        /** A request has come to the target's device. */
        void deliver(SimRequest request);
    }

    /** Executes requests at their target. */
    interface Executor
    {
        SimHost host();

        /** Number of the queue pair or DC target. */
        int number();

        QueuePairState state();

        /** Whether a request is of the peer that it is connected to. */
        boolean accepts(SimRequest request);

        /** Takes an arrived request; false when nobody is there to take it. */
        boolean offer(SimRequest request);

        /** A request that is not begun goes away; false when it is not here any more. */
        boolean withdraw(SimRequest request);

        /** A request that succeeded comes again, because its response was lost; false when nobody is there. */
        boolean repeat(SimRequest request);

        /** Places the first bytes of an unreliable message that is then lost. */
        void placePart(SimRequest request, int arrivedBytes);
    }

    /**
     * Where a request of a UD queue pair or a DC initiator goes.
     *
     * @param device    of the target.
     * @param number    of the queue pair or DC target there.
     * @param accessKey of a DC target; the queue key for UD.
     */
    record Destination(DeviceAddress device, int number, long accessKey)
    {
    }

    /**
     * When it set out.
     *
     * @param position   in its send queue.
     * @param sequence   larger than that of whatever happened before.
     * @param readsAhead READs and atomics of the queue pair that were outstanding.
     */
    record Launch(long position, long timeNs, long sequence, int readsAhead)
    {
    }

    final Requester requester;
    final Launch launch;
    public final int operation;
    final int flags;
    final long wrId;
    final long localAddress;
    public final int lengthBytes;
    final int localKey;
    /** Its places, when it has several and they were not put together; null otherwise. */
    final SegmentList segments;
    public final long remoteAddress;
    final int remoteKey;
    final boolean hasImmediate;
    final int immediate;
    final long operand;
    final long desired;
    /** SEND_WITH_INV. */
    final boolean invalidates;
    /** UD and DC; null otherwise. */
    final Destination destination;
    /** What its queue pair was connected to. */
    final Connection connection;
    final SimPayload payload;
    final SimRetries retries = new SimRetries();
    /** Status of the response, or of the requester's own check. */
    public int status = PENDING;
    /** Whether the response, or the failure, has reached the requester. */
    boolean isDone;
    /** DC: the connection it goes through. */
    Session session;
    /** DC: whether it opens that connection. */
    boolean connects;

    SimRequest(final Requester requester, final Launch launch, final WorkRequest posted)
    {
        this.requester = requester;
        this.launch = launch;
        this.operation = posted.operation;
        this.flags = posted.flags;
        this.wrId = posted.wrId;
        this.localAddress = posted.localAddress;
        this.lengthBytes = posted.lengthBytes;
        this.localKey = posted.localKey;
        this.segments = posted.isGathered() ? posted.segments.copy() : null;
        this.remoteAddress = posted.remoteAddress;
        this.remoteKey = posted.remoteKey;
        this.hasImmediate = posted.hasImmediate;
        this.immediate = posted.immediate;
        this.operand = posted.operand;
        this.desired = posted.desired;
        this.connection = requester.connection();
        this.invalidates = posted.invalidates;
        this.destination = posted.destination == null ? null :
            new Destination(posted.destination.target(), posted.destinationNumber, posted.destinationKey);
        this.payload = new SimPayload(isAtomic() ? 0 : lengthBytes, remoteAddress);
    }

    /** @return the device of the queue pair that posted it. */
    public SimHost requesterHost()
    {
        return requester.host();
    }

    /** @return the number of the queue pair that posted it. */
    public int requesterNumber()
    {
        return requester.number();
    }

    /** @return its position in its send queue. */
    public long position()
    {
        return launch.position;
    }

    /** Adds what was asked for and how far it is; not when. */
    public void describe(final StateWords words)
    {
        words.accept((long)requester.host().index() << 32 | requester.number());
        words.accept((long)operation << 32 | flags);
        words.accept(wrId);
        // The payload of INLINE is a copy already, at an address that differs from run to run.
        words.accept((flags & SendFlags.INLINE) != 0 ? 0 : localAddress);
        describePlaces(words);
        words.accept(remoteAddress);
        words.accept((long)remoteKey << 32 | (hasImmediate || invalidates ? immediate : 0));
        // What a request does not use was left in its place by one before.
        words.accept(isAtomic() ? operand : 0);
        words.accept(operation == WorkRequest.COMPARE_SWAP ? desired : 0);
        words.accept(
            (hasImmediate ? 1 : 0) | (invalidates ? 2 : 0) | (payload.isPlaced() ? 4 : 0) | (isAlive() ? 8 : 0));
        words.accept((long)launch.readsAhead << 32 | progress());
        words.accept((long)retries.rnrMisses() << 32 | status);
        words.accept(destination == null ? null : destination.device());
        words.accept(destination == null ? 0 : destination.number());
        words.accept(destination == null ? 0 : destination.accessKey());
        words.accept(payload.bytes);
    }

    /** Adds where its payload lies here. */
    void describePlaces(final StateWords words)
    {
        words.accept((long)localKey << 32 | lengthBytes);
        if (segments != null)
        {
            segments.describe(words);
        }
    }

    /** Adds what came of it. */
    public void describeResult(final StateWords words)
    {
        words.accept((long)status << 1 | (isDone ? 1 : 0));
        if (status == WorkCompletionStatus.SUCCESS && isAtomic())
        {
            words.accept(payload.found);
        }
        else if (status == WorkCompletionStatus.SUCCESS && isReadOrAtomic())
        {
            words.accept(payload.bytes);
        }
    }

    /** The device that it goes to, as far as it is there; null otherwise. */
    SimHost target()
    {
        if (destination != null)
        {
            return requester.find(destination.device());
        }
        final Executor executor = connection.executor();
        return executor == null ? null : executor.host();
    }

    /** Forgets that it was executed. */
    void beginAgain()
    {
        status = PENDING;
        payload.beginAgain();
    }

    /** Whether its queue pair still waits for it, over a connection that passes messages. */
    private boolean isAlive()
    {
        return connection == requester.connection() && !connection.isCut() && (session == null || !session.isCut());
    }

    /** Grows with each thing that is done for it at its target. */
    int progress()
    {
        return payload.piecesMoved() + (payload.isPlaced() ? 1 : 0);
    }

    @Override
    public String toString()
    {
        final String what = switch (operation)
        {
            case WorkRequest.SEND -> "SEND " + lengthBytes + " bytes";
            case WorkRequest.WRITE -> "WRITE " + lengthBytes + " bytes at 0x" + Long.toHexString(remoteAddress);
            case WorkRequest.READ -> "READ " + lengthBytes + " bytes at 0x" + Long.toHexString(remoteAddress);
            case WorkRequest.COMPARE_SWAP -> "CMP_SWAP 0x" + Long.toHexString(remoteAddress) + " 0x" +
                Long.toHexString(operand) + " -> 0x" + Long.toHexString(desired);
            case WorkRequest.FETCH_ADD -> "FETCH_ADD 0x" + Long.toHexString(remoteAddress) + " " + operand;
            default -> "operation " + operation;
        };
        return payload.piecesMoved() > 0 ? what + " (line " + payload.piecesMoved() + ")" : what;
    }

    boolean isReadOrAtomic()
    {
        return operation >= WorkRequest.READ && operation <= WorkRequest.FETCH_ADD;
    }

    public boolean isAtomic()
    {
        return operation == WorkRequest.COMPARE_SWAP || operation == WorkRequest.FETCH_ADD;
    }

    boolean isSend()
    {
        return operation == WorkRequest.SEND;
    }

    boolean consumesReceive()
    {
        return isSend() || hasImmediate;
    }
}
