import io.verbena.raas.Admission;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcReply;
import io.verbena.raas.RpcServer;
import io.verbena.raas.Tenant;
import io.verbena.raas.TenantOptions;
import io.verbena.raas.usage.TenantUsage;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.limit.RaasLimitException;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;

import java.io.PrintStream;

/** Two tenants of one process share a queue pair: one reads as much as it can, the other now and then. */
public final class Tenants
{
    private static final int PORT = 7;
    private static final int BLOCK_BYTES = 4096;
    private static final int READS = 200;
    private static final long TIMEOUT_NS = 5_000_000_000L;

    private Tenants()
    {
    }

    /**
     * Runs the program.
     *
     * @param args the fabric; {@code soft} without.
     */
    public static void main(final String[] args)
    {
        run(args.length == 0 ? "soft" : args[0], System.out);
    }

    static void run(final String fabricName, final PrintStream out)
    {
        try (Fabric fabric = Fabrics.open(fabricName);
            Device far = fabric.openDevice("server");
            Device near = fabric.openDevice("client");
            RaasContext server = RaasContext.open(far, new RaasConfiguration());
            RaasContext client = RaasContext.open(near, new RaasConfiguration());
            MemoryRegion served = server.protectionDomain().allocateRegistered(BLOCK_BYTES, AccessFlags.ALL_REMOTE);
            RpcServer rpcServer = server.serve(PORT,
                (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], served),
                (caller, method, request, offset, lengthBytes, reply) -> RpcReply.REFUSED))
        {
            final PeerAddress peer = new PeerAddress(far.address(), PORT, 1, 1);
            share(server, client, peer, RemoteRegion.of(served), out);
            out.println("queue pairs: " + rpcServer.connections());
        }
    }

    private static void share(
        final RaasContext server, final RaasContext client, final PeerAddress peer, final RemoteRegion remote,
        final PrintStream out)
    {
        // Twice the weight: where both want more than there is, two bytes of checkout for one of analytics.
        final Tenant analytics = client.tenant("analytics",
            new TenantOptions().queueSlots(READS).pinnedBytes(BLOCK_BYTES));
        final Tenant checkout = client.tenant("checkout", new TenantOptions().weight(2));
        final int[] done = new int[2];
        try (MemoryRegion block = analytics.protectionDomain().allocateRegistered(BLOCK_BYTES, AccessFlags.LOCAL_WRITE);
            MemoryRegion word = checkout.protectionDomain().allocateRegistered(Long.BYTES, AccessFlags.LOCAL_WRITE);
            VirtualQp greedy = connect(client, analytics, peer, (vqp, cookie, status) -> done[0]++);
            VirtualQp quiet = connect(client, checkout, peer, (vqp, cookie, status) -> done[1]++))
        {
            while (!greedy.isReady() || !quiet.isReady())
            {
                if (greedy.isFailed() || quiet.isFailed())
                {
                    throw new IllegalStateException(greedy.failure() + quiet.failure());
                }
                poll(server, client);
            }
            for (int i = 0; i < READS; i++)
            {
                read(greedy, block, BLOCK_BYTES, remote);
            }
            out.println("one more READ of analytics: " +
                (read(greedy, block, BLOCK_BYTES, remote) == PostStatus.QUEUE_FULL ? "QUEUE_FULL" : "posted"));
            read(quiet, word, Long.BYTES, remote);
            while (done[1] == 0)
            {
                poll(server, client);
            }
            out.println("the READ of checkout was done before " + (READS - done[0] > READS / 2 ? "most" : "few") +
                " of the " + READS + " of analytics");
            while (done[0] < READS)
            {
                poll(server, client);
            }
            registerMore(analytics, out);
            final TenantUsage usage = analytics.usage();
            out.println("analytics: " + usage.requests() + " requests, " + usage.payloadBytes() + " bytes, " +
                usage.refusals() + " refused");
        }
    }

    private static VirtualQp connect(
        final RaasContext client, final Tenant tenant, final PeerAddress peer, final BatchListener listener)
    {
        return client.connect(tenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE, listener, TIMEOUT_NS);
    }

    private static int read(
        final VirtualQp vqp, final MemoryRegion local, final int lengthBytes, final RemoteRegion remote)
    {
        vqp.begin();
        vqp.read(local, 0, lengthBytes, remote, 0);
        return vqp.complete(0);
    }

    private static void registerMore(final Tenant tenant, final PrintStream out)
    {
        try (MemoryRegion more = tenant.protectionDomain().allocateRegistered(1, AccessFlags.LOCAL_WRITE))
        {
            out.println("registered " + more.lengthBytes() + " more");
        }
        catch (final RaasLimitException ex)
        {
            out.println("not registered, " + ex.limit().used() + " of " + ex.limit().most() + " bytes are in use");
        }
    }

    private static void poll(final RaasContext server, final RaasContext client)
    {
        server.poll();
        client.poll();
    }
}
