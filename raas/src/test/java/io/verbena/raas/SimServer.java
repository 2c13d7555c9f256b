package io.verbena.raas;

import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.Agent;

import java.lang.foreign.ValueLayout;

/** A simulated node that grants a region and echoes calls. */
final class SimServer implements Agent
{
    static final int PORT = 7;
    static final int REGION_BYTES = 1 << 12;

    final SimNode node;
    final RaasContext context;
    final MemoryRegion region;
    final RpcServer rpcServer;
    final ReadTarget readTarget;
    long calls;

    SimServer(final SimNode node, final RaasConfiguration configuration)
    {
        this.node = node;
        context = RaasContext.open(node.device(), configuration);
        region = context.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        rpcServer = context.serve(
            PORT,
            (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
            (caller, method, request, offset, length, reply) ->
            {
                calls++;
                reply.buffer().putBytes(reply.offset(), request, offset, length);
                return length;
            });
        readTarget = context.openReadTarget(77);
        node.addAgent(this);
    }

    PeerAddress address()
    {
        return new PeerAddress(node.device().address(), PORT, 1, 1);
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
    public void onClose()
    {
        context.poll();
    }

    @Override
    public String roleName()
    {
        return "server";
    }
}
