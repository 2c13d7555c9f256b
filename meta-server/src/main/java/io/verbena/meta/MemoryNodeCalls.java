package io.verbena.meta;

import io.verbena.meta.membership.FencingRound;
import io.verbena.meta.membership.FencingRound.FenceCaller;
import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.meta.membership.ViewConductor.ViewCaller;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.View;
import io.verbena.raas.BatchListener;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Calls to memory nodes, to fence nodes and to close views, over virtual queue pairs. A connection lives for one call:
 * both are rare, and the pool keeps the physical queue pair. Owned by the server's thread.
 */
final class MemoryNodeCalls implements FenceCaller, ViewCaller, AutoCloseable
{
    /** Takes the end of a call. */
    @FunctionalInterface
    private interface Outcome
    {
        void onEnd(ControlStatus status, long nowNs);
    }

    /** Takes what came of a probe. */
    @FunctionalInterface
    interface Probed
    {
        void onProbed(PeerIdentity memoryNode, boolean isThere, long nowNs);
    }

    private record Call(int memoryNodeId, View view, VirtualQp vqp, ControlCall<?> call, Outcome outcome)
    {
    }

    /** More than this many calls at a time wait for their next try. */
    static final int MAX_CALLS = 32;

    private final RaasContext raas;
    private final MembershipTable members;
    private final long timeoutNs;
    private final BiConsumer<PeerIdentity, View> onConfirmed;
    private final Probed onProbed;
    private final Set<PeerIdentity> probing = new HashSet<>();
    private final List<Call> calls = new ArrayList<>();

    /**
     * @param onConfirmed takes each memory node that has closed a view, or knows who fills it.
     * @param onProbed takes each that has answered a probe, or to which the connection has failed.
     */
    MemoryNodeCalls(
        final RaasContext raas, final MembershipTable members, final BiConsumer<PeerIdentity, View> onConfirmed,
        final Probed onProbed, final long timeoutNs)
    {
        this.onProbed = onProbed;
        this.onConfirmed = onConfirmed;
        this.raas = raas;
        this.members = members;
        this.timeoutNs = timeoutNs;
    }

    @Override
    public void fence(final int memoryNodeId, final FencingRound round)
    {
        if (calls.size() >= MAX_CALLS)
        {
            round.onAnswer(memoryNodeId, false, raas.clock().nanoTime());
            return;
        }

        final PeerIdentity identity = new PeerIdentity(round.nodeId(), round.incarnation());
        call(memoryNodeId, null, (client) -> client.fence(identity, timeoutNs),
            (status, nowNs) -> round.onAnswer(memoryNodeId, ControlStatus.OK == status, nowNs));
    }

    /** One that finds no room, or an earlier one under way, is made again, as one that is not answered. */
    @Override
    public void close(final PeerIdentity memoryNode, final View view)
    {
        ask(memoryNode, view, (client) -> client.closeView(view, timeoutNs));
    }

    @Override
    public void fill(final PeerIdentity memoryNode, final View view)
    {
        ask(memoryNode, view, (client) -> client.fillView(view, timeoutNs));
    }

    private void ask(
        final PeerIdentity memoryNode, final View view, final Function<MemoryNodeClient, ControlCall<?>> request)
    {
        final Member member = members.member(memoryNode.nodeId());

        if (calls.size() < MAX_CALLS && null != member && member.incarnation() == memoryNode.incarnation() &&
            !isUnderWay(memoryNode.nodeId(), view))
        {
            call(memoryNode.nodeId(), view, request, (status, nowNs) ->
            {
                if (ControlStatus.OK == status)
                {
                    onConfirmed.accept(memoryNode, view);
                }
            });
        }
    }

    @Override
    public void probe(final PeerIdentity memoryNode)
    {
        final Member member = members.member(memoryNode.nodeId());

        if (calls.size() < MAX_CALLS && null != member && member.incarnation() == memoryNode.incarnation() &&
            probing.add(memoryNode))
        {
            call(memoryNode.nodeId(), null, (client) -> client.stat(timeoutNs), (status, nowNs) ->
            {
                probing.remove(memoryNode);

                if (ControlStatus.OK == status || ControlStatus.PEER_FAILED == status)
                {
                    onProbed.onProbed(memoryNode, ControlStatus.OK == status, nowNs);
                }
            });
        }
    }

    /** Else a memory node that stands still would take the places of all other calls, of fences too. */
    private boolean isUnderWay(final int memoryNodeId, final View view)
    {
        return calls.stream().anyMatch((call) -> call.memoryNodeId == memoryNodeId && view.equals(call.view));
    }

    /** @param view that is to be closed, or filled in; null for a fence. */
    private void call(
        final int memoryNodeId,
        final View view,
        final Function<MemoryNodeClient, ControlCall<?>> request,
        final Outcome outcome)
    {
        final PeerRecord memoryNode = members.member(memoryNodeId).node().record();
        final VirtualQp vqp = raas.connect(memoryNode.address(), BatchListener.CALLS_ONLY, timeoutNs);
        calls.add(new Call(memoryNodeId, view, vqp, request.apply(new MemoryNodeClient(raas, vqp)), outcome));
    }

    /** Hands out the answers that came in. */
    int poll(final long nowNs)
    {
        int workCount = 0;

        for (int i = calls.size() - 1; i >= 0; i--)
        {
            final Call call = calls.get(i);

            if (call.call.isDone())
            {
                calls.remove(i);
                call.vqp.close();
                call.outcome.onEnd(call.call.status(), nowNs);
                workCount++;
            }
        }

        return workCount;
    }

    @Override
    public void close()
    {
        calls.forEach((call) -> call.vqp.close());
        calls.clear();
        probing.clear();
    }
}
