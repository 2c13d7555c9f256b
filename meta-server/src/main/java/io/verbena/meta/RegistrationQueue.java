package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipConductor;
import io.verbena.meta.membership.MembershipRefusedException;
import io.verbena.protocol.control.PendingRegistration;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.limit.RaasLimit;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Registrations that wait to be durable. A write to disk takes as long as hundreds of messages, and nobody is served
 * meanwhile: so registrations are gathered until nothing has arrived for a small part of what the last write took, for
 * {@link #GATHER_NS} at most, and share one write. Between two writes every message that has arrived is handled, so
 * that no heartbeat waits for more than one. Bounded: a node beyond is refused, with the time after which to ask again.
 * A compute node for which there is a spare identity is answered at once; what it got is written down when the server
 * is quiet, together with the next spares. While many come one after the other, writes begin at some distance: see
 * {@link WritePace}. Used by the server's thread.
 */
final class RegistrationQueue
{
    private static final int MAX_PORT = 0xFFFF;
    /** Registrations that share one write: what is done for each takes much less time than the write. */
    static final int MAX_GROUP = 256;
    /** Longest wait for more to arrive: less than the write that it may save. */
    static final long GATHER_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Without an arrival for the last write's length divided by this, nothing more is expected. */
    private static final int QUIET_FRACTION = 16;

    private record Waiting(NodeRegistration request, PendingRegistration answer)
    {
    }

    /** With the spares at the moment of the registration: none that is older may be missing at a memory node. */
    private record Admitted(Member member, List<PeerIdentity> spares, PendingRegistration answer)
    {
    }

    private final NanoClock clock;
    private final MembershipConductor conductor;
    private final NodeDirectory directory;
    private final RegistrationSecrets secrets;
    private final long clusterId;
    private final int maxWaiting;
    private int wantedSpares;
    private boolean isLackingSpares;
    private long sparesVersion = -1;
    private long lackingSinceNs;
    private final ErrorHandler errorHandler;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final List<Admitted> admitted = new ArrayList<>();
    private final ArrayDeque<PendingRegistration> due = new ArrayDeque<>();
    private long gatheredSinceNs;
    private long lastArrivalNs;
    private final WritePace pace = new WritePace();
    /** That have been given spares since the last write began. */
    private int joinedSinceWrite;
    private long refused;

    /**
     * @param maxWaiting   registrations that wait at most.
     * @param wantedSpares identities that are kept on disk for compute nodes to come.
     * @param errorHandler gets what a registration unexpectedly fails with, alone.
     */
    RegistrationQueue(
        final NanoClock clock, final MembershipConductor conductor, final NodeDirectory directory,
        final RegistrationSecrets secrets, final long clusterId, final int maxWaiting, final int wantedSpares,
        final ErrorHandler errorHandler)
    {
        this.clock = clock;
        this.conductor = conductor;
        this.directory = directory;
        this.secrets = secrets;
        this.clusterId = clusterId;
        this.maxWaiting = maxWaiting;
        this.wantedSpares = wantedSpares;
        this.errorHandler = errorHandler;
    }

    /**
     * Takes a registration.
     *
     * @param request what a node asks for.
     * @param answer  puts the answer off.
     * @throws ControlException INVALID_REQUEST for one that no node makes; UNAVAILABLE, with the time to wait, when as
     *                          many wait as may.
     */
    void add(final NodeRegistration request, final Supplier<PendingRegistration> answer)
    {
        refuseImpossible(request);
        if (conductor.table().hasSpareFor(request))
        {
            assign(request, answer);
            return;
        }

        if (waiting.size() >= maxWaiting)
        {
            refused++;
            final long delayNs = (waiting.size() / MAX_GROUP + 1) * (GATHER_NS + pace.lengthNs());
            throw new ControlException(
                ControlStatus.UNAVAILABLE,
                waiting.size() + " registrations wait already, and more may not: register again in " +
                TimeUnit.NANOSECONDS.toMillis(delayNs) + " ms",
                delayNs);
        }

        if (waiting.isEmpty())
        {
            gatheredSinceNs = clock.nanoTime();
        }

        waiting.add(new Waiting(request, answer.get()));
    }

    private static void refuseImpossible(final NodeRegistration request)
    {
        final boolean isMemory = NodeRole.MEMORY_NODE == request.role();
        final boolean hasPort = request.servicePort() > 0 && request.servicePort() <= MAX_PORT;

        if (!isMemory && NodeRole.COMPUTE_NODE != request.role() ||
            !hasPort && (isMemory || 0 != request.servicePort()) ||
            isMemory && request.region().lengthBytes() <= 0)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "registration refused: role=" + request.role() +
                " servicePort=" + request.servicePort() +
                " regionLengthBytes=" + request.region().lengthBytes() +
                "; compute and memory nodes register, a memory node with a port and a region");
        }
    }

    /** Nothing is written: what it gets is on disk already. */
    private void assign(final NodeRegistration request, final Supplier<PendingRegistration> answer)
    {
        directory.epoch(conductor.epoch());
        final Member member;
        try
        {
            member = conductor.register(request, clock.nanoTime());
        }
        catch (final MembershipRefusedException ex)
        {
            throw MembershipRefusals.of(ex);
        }
        directory.membershipVersion(conductor.table().version());
        joinedSinceWrite++;
        answer(new Admitted(member, List.of(), answer.get()));
    }

    /** After this no spare is assigned, and there are no new ones: the server ends, in order. */
    void releaseSpares()
    {
        wantedSpares = 0;
        conductor.table().releaseSpares();
    }

    /** @return registrations that are neither durable nor refused. */
    int size()
    {
        return waiting.size();
    }

    RaasLimit limit()
    {
        return new RaasLimit("waiting registrations", waiting.size(), maxWaiting,
            "MetaServerConfiguration.maxWaitingRegistrations");
    }

    /** @return registrations refused so far because too many waited. */
    long refused()
    {
        return refused;
    }

    /** @return whether there is something to do that no message brings. */
    boolean isBusy()
    {
        return !waiting.isEmpty() || !due.isEmpty() || isLackingSpares;
    }

    /**
     * @param isQuiet whether no message was there just now.
     * @param nowNs   the clock now.
     * @return work done.
     */
    int poll(final boolean isQuiet, final long nowNs)
    {
        int workCount = 0;

        pace.poll(nowNs);

        if (!isQuiet)
        {
            lastArrivalNs = nowNs;
        }

        final boolean isFull = waiting.size() >= Math.min(MAX_GROUP, maxWaiting);

        if (!waiting.isEmpty() && (isFull || isGathered(isQuiet, nowNs, gatheredSinceNs)))
        {
            beginWrite(waiting.size(), nowNs);
            admitGroup(nowNs);
            workCount++;
        }

        // Answers before the next write: nobody waits for what others get.
        workCount += ChangeNotifier.give(due, PendingRegistration::give);
        return workCount + recordSpares(isQuiet, nowNs);
    }

    /** Whether a write that could have begun at some time had better wait for no more to arrive. */
    private boolean isGathered(final boolean isQuiet, final long nowNs, final long sinceNs)
    {
        return !pace.isPausing(nowNs) && (isQuiet && nowNs - lastArrivalNs >= pace.lengthNs() / QUIET_FRACTION ||
            nowNs - sinceNs >= GATHER_NS);
    }

    /** Of those that wait some share the write, or none; of those that were given spares, all. */
    private void beginWrite(final int sharing, final long nowNs)
    {
        pace.begin(joinedSinceWrite + sharing, nowNs);
        joinedSinceWrite = 0;
    }

    private int recordSpares(final boolean isQuiet, final long nowNs)
    {
        if (!isLackingSpares && sparesVersion != conductor.table().version())
        {
            sparesVersion = conductor.table().version();
            isLackingSpares = conductor.table().lacksSpares(wantedSpares);
            lackingSinceNs = nowNs;
            return 0;
        }

        if (!isLackingSpares || !isGathered(isQuiet, nowNs, lackingSinceNs))
        {
            return 0;
        }

        beginWrite(0, nowNs);
        isLackingSpares = false;
        return conductor.recordSpares(wantedSpares) ? 1 : 0;
    }

    private void admitGroup(final long nowNs)
    {
        directory.epoch(conductor.epoch());
        conductor.together(() ->
        {
            while (!waiting.isEmpty() && admitted.size() < MAX_GROUP)
            {
                admit(waiting.remove(), nowNs);
            }
            conductor.recordSpares(wantedSpares);
        });
        isLackingSpares = false;
        sparesVersion = conductor.table().version();
        directory.membershipVersion(conductor.table().version());
        admitted.forEach(this::answer);
        admitted.clear();
    }

    private void admit(final Waiting next, final long nowNs)
    {
        try
        {
            final Member member = member(next.request, nowNs);
            admitted.add(new Admitted(
                member, member.isCompute() ? List.of() : conductor.table().spares(), next.answer));
        }
        catch (final MembershipRefusedException ex)
        {
            refuse(next.answer, MembershipRefusals.of(ex));
        }
        catch (final RuntimeException ex)
        {
            errorHandler.onError(ex);
            refuse(next.answer, new ControlException(ControlStatus.UNAVAILABLE, "the meta server failed: " + ex));
        }
    }

    /** A memory node that gives the id of an earlier incarnation keeps it; a compute node always gets another one. */
    private Member member(final NodeRegistration request, final long nowNs)
    {
        return NodeRole.MEMORY_NODE == request.role() && 0 != request.nodeId() ?
            conductor.rejoin(request, request.nodeId(), nowNs) : conductor.register(request, nowNs);
    }

    private void answer(final Admitted each)
    {
        final Member member = each.member;

        if (!directory.isListed(member.nodeId()))
        {
            conductor.leave(member.nodeId(), member.incarnation(), clock.nanoTime());
            refuse(each.answer, new ControlException(
                ControlStatus.EXHAUSTED,
                "the directory has no room for " + member + "; start the server with more maxNodes"));
            return;
        }

        final PeerIdentity identity = new PeerIdentity(member.nodeId(), member.incarnation());
        each.answer.accept(new Registration(
            member.nodeId(),
            member.incarnation(),
            member.node().writerNumber(),
            conductor.epoch(),
            conductor.safeEpoch(),
            conductor.table().version(),
            conductor.table().leaseNs(),
            clusterId,
            secrets.sent(identity),
            secrets.tokens(identity, HeldSecrets.NONE),
            each.spares));
        due.add(each.answer);
    }

    private void refuse(final PendingRegistration answer, final ControlException refusal)
    {
        answer.refuse(refusal);
        due.add(answer);
    }
}
