package io.verbena.meta;

import io.verbena.meta.membership.FencingRound.FenceCaller;
import io.verbena.meta.membership.FencingRound;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.BatchListener;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerRecord;

import java.util.ArrayList;
import java.util.List;

/**
 * Fence calls to memory nodes over virtual queue pairs. A connection lives for one call: fencing is rare, and the pool
 * keeps the physical queue pair. Owned by the server's thread.
 */
final class FenceLinks implements FenceCaller, AutoCloseable
{
    private record Call(int memoryNodeId, FencingRound round, VirtualQp vqp, ControlCall<Void> call)
    {
    }

    /** More than this many calls at a time wait for their next try. */
    static final int MAX_CALLS = 32;

    private final RaasContext raas;
    private final MembershipTable members;
    private final long timeoutNs;
    private final List<Call> calls = new ArrayList<>();

    FenceLinks(final RaasContext raas, final MembershipTable members, final long timeoutNs)
    {
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

        final PeerRecord memoryNode = members.member(memoryNodeId).node().record();
        final VirtualQp vqp = raas.connect(memoryNode.address(), BatchListener.CALLS_ONLY, timeoutNs);
        final PeerIdentity identity = new PeerIdentity(round.nodeId(), round.incarnation());
        calls.add(new Call(memoryNodeId, round, vqp, new MemoryNodeClient(raas, vqp).fence(identity, timeoutNs)));
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
                call.round.onAnswer(call.memoryNodeId, ControlStatus.OK == call.call.status(), nowNs);
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
    }
}
