package io.verbena.load.verbs;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcReply;
import io.verbena.raas.Tenant;
import io.verbena.raas.TenantOptions;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.Agent;

/** In the simulator: a tenant that READs 64 bytes now and then, and one that READs 4 KiB at a time, without pause. */
public final class TenantsSimRun
{
    /** Who else uses the queue pair. */
    public enum Beside
    {
        /** Nobody. */
        NOBODY,
        /** A tenant of its own. */
        ANOTHER_TENANT,
        /** The greedy requests are the same tenant's: nothing keeps them apart. */
        THE_SAME_TENANT
    }

    /**
     * What was measured.
     *
     * @param p99Ns                   of the quiet READs, from {@code complete()} to the callback.
     * @param greedyGigabitsPerSecond of payload.
     */
    public record Latencies(double p99Ns, double greedyGigabitsPerSecond)
    {
    }

    private static final long SEED = 1;
    private static final int PORT = 7;
    private static final int REGION_BYTES = 1 << 20;
    private static final int BLOCK_BYTES = 4096;
    private static final int QUIET_BYTES = 64;
    private static final int GREEDY_BATCHES = 32;
    private static final int GREEDY_REQUESTS = 4;
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final int MOST_PAUSE_NS = 20_000;
    private static final int MOST_STEPS = 50_000_000;

    private final RnicModel model = RnicModel.load(RnicModel.CONNECTX3_ROCE);
    private final int weight;
    private final int queueSlots;

    /**
     * @param weight     of the quiet tenant.
     * @param queueSlots of the greedy one.
     */
    public TenantsSimRun(final int weight, final int queueSlots)
    {
        this.weight = weight;
        this.queueSlots = queueSlots;
    }

    /**
     * Runs in a world of its own.
     *
     * @param reads  of the quiet tenant.
     * @param beside who else uses its queue pair.
     * @return what was measured.
     */
    public Latencies quiet(final int reads, final Beside beside)
    {
        final SimFabricOptions options = SimFabricOptions.calm().rnicModel(model).agentStepNs(200, 200, 200);
        try (SimWorld world = new SimWorld(SEED, options))
        {
            final SimNode server = world.addNode("server");
            final RaasContext served = RaasContext.open(server.device(), new RaasConfiguration());
            final MemoryRegion region = served.protectionDomain().allocateRegistered(
                REGION_BYTES, AccessFlags.ALL_REMOTE);
            served.serve(PORT,
                (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
                (caller, method, request, offset, lengthBytes, reply) -> RpcReply.REFUSED);
            server.addAgent(polling(served));
            final Client client = new Client(world, world.addNode("client"),
                new PeerAddress(server.device().address(), PORT, 1, 1), RemoteRegion.of(region), beside);
            world.runUntil(() -> client.latencies.getTotalCount() >= reads, MOST_STEPS);
            final double seconds = (world.clock().nanoTime() - client.beganNs) / 1e9;
            return new Latencies(client.latencies.getValueAtPercentile(99),
                client.greedyBytes * (double)Byte.SIZE / 1e9 / seconds);
        }
    }

    private static Agent polling(final RaasContext context)
    {
        return new Agent()
        {
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
        };
    }

    /** Both tenants, in one process. */
    private final class Client implements Agent
    {
        private final SimWorld world;
        private final RaasContext context;
        private final RemoteRegion remote;
        private final MemoryRegion greedyMemory;
        private final MemoryRegion quietMemory;
        private final VirtualQp greedy;
        private final VirtualQp quiet;
        private final boolean isGreedy;
        private final Histogram latencies = new Histogram(3);
        private long beganNs;
        private long greedyBytes;
        private long nextAtNs;
        private long postedAtNs;
        private boolean isAwaiting;

        private Client(
            final SimWorld world, final SimNode node, final PeerAddress peer, final RemoteRegion remote,
            final Beside beside)
        {
            this.world = world;
            this.remote = remote;
            isGreedy = beside != Beside.NOBODY;
            context = RaasContext.open(node.device(), new RaasConfiguration().identity(new PeerIdentity(3, 1)));
            final Tenant quietTenant = beside == Beside.ANOTHER_TENANT ?
                context.tenant("quiet", new TenantOptions().weight(weight)) : context.defaultTenant();
            final Tenant greedyTenant = beside == Beside.ANOTHER_TENANT ?
                context.tenant("greedy", new TenantOptions().queueSlots(queueSlots)) : context.defaultTenant();
            greedyMemory = greedyTenant.protectionDomain().allocateRegistered(BLOCK_BYTES, AccessFlags.LOCAL_WRITE);
            quietMemory = quietTenant.protectionDomain().allocateRegistered(QUIET_BYTES, AccessFlags.LOCAL_WRITE);
            greedy = context.connect(greedyTenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE,
                (vqp, cookie, status) -> greedyBytes += (long)GREEDY_REQUESTS * BLOCK_BYTES, TIMEOUT_NS);
            quiet = context.connect(quietTenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE,
                (vqp, cookie, status) -> onQuietDone(), TIMEOUT_NS);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            final int work = context.poll();
            if (!quiet.isReady() || !greedy.isReady())
            {
                return work;
            }
            final long nowNs = world.clock().nanoTime();
            beganNs = beganNs == 0 ? nowNs : beganNs;
            while (isGreedy && greedy.outstandingBatches() < GREEDY_BATCHES && postGreedily())
            {
                // until it has enough under way, or there is no more room
            }
            if (!isAwaiting && nowNs - nextAtNs >= 0)
            {
                postQuietly(nowNs);
            }
            return work;
        }

        private boolean postGreedily()
        {
            if (greedy.space() < GREEDY_REQUESTS)
            {
                return false;
            }
            greedy.begin();
            for (int i = 0; i < GREEDY_REQUESTS; i++)
            {
                greedy.read(greedyMemory, 0, BLOCK_BYTES, remote, offset(BLOCK_BYTES));
            }
            return greedy.complete(0) == PostStatus.OK;
        }

        private void postQuietly(final long nowNs)
        {
            quiet.begin();
            quiet.read(quietMemory, 0, QUIET_BYTES, remote, offset(QUIET_BYTES));
            if (quiet.complete(0) == PostStatus.OK)
            {
                isAwaiting = true;
            }
            // Where there was no room, that is part of its time.
            postedAtNs = postedAtNs == 0 ? nowNs : postedAtNs;
        }

        private long offset(final int lengthBytes)
        {
            return (long)world.random().nextInt(REGION_BYTES / lengthBytes) * lengthBytes;
        }

        private void onQuietDone()
        {
            final long nowNs = world.clock().nanoTime();
            latencies.recordValue(nowNs - postedAtNs);
            postedAtNs = 0;
            isAwaiting = false;
            nextAtNs = nowNs + world.random().nextInt(MOST_PAUSE_NS);
        }

        @Override
        public String roleName()
        {
            return "client";
        }
    }
}
