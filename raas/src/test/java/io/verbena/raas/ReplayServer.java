package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.Agent;

import java.lang.foreign.ValueLayout;

/** A simulated server with words to be read and added to, and memory whose key it takes away now and then. */
final class ReplayServer implements Agent
{
    static final int PORT = 4791;
    static final int NODE_ID = 9;
    private static final int REGION_BYTES = 4096;

    final SimNode node;
    final RaasContext context;
    final MemoryRegion region;
    final ReadTarget readTarget;
    RpcServer rpcServer;
    /** Under a key of its own, which is closed by {@link #closeTrap()}. */
    MemoryRegion trap;
    int connections;

    ReplayServer(final SimNode node, final boolean isSharingReceives)
    {
        this.node = node;
        context = RaasContext.open(node.device(), new RaasConfiguration()
            .rpcCredits(5).sharesReceives(isSharingReceives).identity(new PeerIdentity(NODE_ID, 1)));
        region = context.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        trap = context.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        rpcServer = context.serve(PORT, (caller, source) ->
            {
                connections++;
                return Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{7}, region, trap);
            },
            (caller, method, request, offset, length, reply) ->
            {
                reply.buffer().putBytes(reply.offset(), request, offset, length);
                return length;
            });
        readTarget = context.openReadTarget(77);
        node.addAgent(this);
    }

    /** Requests for it that are under way are refused; connections made later know its successor. */
    void closeTrap()
    {
        trap.close();
        trap = context.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
    }

    PeerAddress address()
    {
        return new PeerAddress(node.device().address(), PORT, NODE_ID, 1);
    }

    long word(final long offset)
    {
        return region.segment().get(ValueLayout.JAVA_LONG, offset);
    }

    @Override
    public int doWork()
    {
        return context.poll();
    }

    @Override
    public String roleName()
    {
        return "server";
    }
}
