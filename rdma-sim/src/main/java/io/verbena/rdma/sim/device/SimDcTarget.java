package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

import java.util.ArrayList;
import java.util.List;

/** A DC target and the connections that initiators have to it now. */
final class SimDcTarget implements DcTarget, SimTarget, SimStateful
{
    private static final long RNR_WAIT_NS = 10_000;

    /** A connection that an initiator has to it now. */
    interface Session
    {
        /** Nothing comes through any more. */
        void release();

        /** Adds whom this serves and what has arrived. */
        void describeServed(StateWords words);
    }

    private final ProtectionDomain protectionDomain;
    private final SimHost host;
    private final Runnable onClosed;
    private final SimCompletionQueue completions;
    private final SimSharedReceiveQueue receives;
    private final DcTargetOptions options;
    private final int number;
    private final List<Session> sessions = new ArrayList<>();
    private QueuePairState state = QueuePairState.RTR;
    private long accessKeyViolations;
    private boolean isClosed;

    /** @param onClosed called once. */
    SimDcTarget(
        final SimHost host,
        final ProtectionDomain protectionDomain,
        final Runnable onClosed,
        final SimCompletionQueue completions,
        final SimSharedReceiveQueue receives,
        final DcTargetOptions options,
        final int number)
    {
        this.protectionDomain = protectionDomain;
        this.host = host;
        this.onClosed = onClosed;
        this.completions = completions;
        this.receives = receives;
        this.options = options;
        this.number = number;
    }

    boolean isKey(final long accessKey)
    {
        final boolean isRight = accessKey == options.accessKey();
        if (!isRight)
        {
            accessKeyViolations++;
        }
        return isRight;
    }

    void sessionOpen(final Session session)
    {
        sessions.add(session);
    }

    void sessionOver(final Session session)
    {
        sessions.remove(session);
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

    @Override
    public long accessKeyViolations()
    {
        return accessKeyViolations;
    }

    @Override
    public void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            state = QueuePairState.RESET;
            endSessions();
            completions.detach(this);
            receives.detach(this);
            onClosed.run();
        }
    }

    @Override
    public SimHost host()
    {
        return host;
    }

    @Override
    public ProtectionDomain protectionDomain()
    {
        return protectionDomain;
    }

    @Override
    public QueuePairType type()
    {
        return QueuePairType.DC_INITIATOR;
    }

    @Override
    public int accessFlags()
    {
        return options.accessFlags();
    }

    @Override
    public int readAtomicDepth()
    {
        return options.maxReadAtomic();
    }

    @Override
    public long rnrWaitNs()
    {
        return RNR_WAIT_NS;
    }

    @Override
    public boolean accepts(final SimRequest request)
    {
        return true;
    }

    @Override
    public void serving()
    {
    }

    @Override
    public ReceiveQueue receives()
    {
        return receives.queue();
    }

    @Override
    public SimCompletionQueue receiveCompletions()
    {
        return completions;
    }

    @Override
    public void receiveTaken()
    {
        receives.taken();
    }

    @Override
    public void releaseReceive()
    {
        receives.queue().release();
    }

    @Override
    public void moveToError()
    {
        if (!isClosed)
        {
            state = QueuePairState.ERR;
            endSessions();
        }
    }

    @Override
    public long decide(final SimDecision what, final long bound)
    {
        return host.timeline().decisions().next(
            what, SimDecisions.lane(host.index(), number, SimRequest.REQUEST), bound);
    }

    @Override
    public void describe(final StateWords words)
    {
        words.in(StatePart.DC_CONNECTIONS).accept(number);
        words.accept(state.ordinal());
        words.accept(accessKeyViolations);
        words.accept(sessions.size());
        sessions.forEach(session -> session.describeServed(words));
    }

    @Override
    public String toString()
    {
        return "SimDcTarget{device=" + host.name() + ", number=" + number + ", state=" + state +
            ", accessKeyViolations=" + accessKeyViolations + '}';
    }

    private void endSessions()
    {
        List.copyOf(sessions).forEach(Session::release);
    }
}
