package io.verbena.load.verbs;

import io.verbena.raas.Admission;
import io.verbena.raas.BatchListener;
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
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.Agent;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Two identities on one queue pair, each with a key of its own on the same memory. At a moment that the seed decides
 * the key of one is closed, while it writes: what of it lands afterwards, and what becomes of the other's additions?
 */
public final class FencedSimRun
{
    /**
     * What was counted.
     *
     * @param landedBytes  of the fenced identity that changed after its registration was closed.
     * @param lost         additions without a result, or reported to have had no effect.
     * @param unknown      additions reported as of unknown outcome.
     * @param acknowledged additions that are done.
     */
    public record Outcome(long landedBytes, long lost, long unknown, long acknowledged)
    {
    }

    private static final int PORT = 7;
    private static final int REGION_BYTES = 4096;
    private static final int FENCED_OFFSET = 64;
    private static final int FENCED_BYTES = REGION_BYTES - FENCED_OFFSET;
    private static final int BATCHES = 8;
    private static final int BATCH_REQUESTS = 3;
    private static final long TIMEOUT_NS = 5_000_000;
    private static final long RUN_NS = 400_000;
    private static final long SETTLE_NS = 20_000_000;

    private final SimWorld world;
    private final MemorySegment memory;
    private final MemoryRegion bystanderKey;
    private final RaasContext server;
    private MemoryRegion fencedKey;
    private byte[] atFence;

    private FencedSimRun(final SimWorld world, final SimNode node)
    {
        this.world = world;
        server = RaasContext.open(node.device(), new RaasConfiguration().identity(new PeerIdentity(1, 1)));
        bystanderKey = server.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        memory = bystanderKey.segment();
        fencedKey = server.protectionDomain().register(memory, AccessFlags.ALL_REMOTE);
        server.serve(PORT,
            (caller, source) -> fencedKey == null ?
                Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], bystanderKey) :
                Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], bystanderKey, fencedKey),
            (caller, method, request, offset, lengthBytes, reply) -> RpcReply.REFUSED);
        node.addAgent(agent("server", server));
    }

    /**
     * Runs in a world of its own.
     *
     * @param seed decides the schedule, and when it happens.
     * @return what was counted.
     */
    public static Outcome run(final long seed)
    {
        try (SimWorld world = new SimWorld(seed, new SimFabricOptions().retryTimeoutNs(100_000)))
        {
            final SimNode node = world.addNode("server");
            final FencedSimRun run = new FencedSimRun(world, node);
            final Client client = new Client(world.addNode("client"),
                new PeerAddress(node.device().address(), PORT, 1, 1));
            world.after(RUN_NS / 4 + world.random().nextLong(RUN_NS / 2), run::fence);
            world.runFor(RUN_NS);
            client.isStopping = true;
            world.runFor(SETTLE_NS);
            final long word = run.memory.get(ValueLayout.JAVA_LONG, 0);
            // What was neither done nor reported as unknown, and what was done although it was reported not to be.
            final long untold = client.posted - client.acknowledged - client.unknown;
            final long wrong = Math.max(0, client.acknowledged - word) +
                Math.max(0, word - client.acknowledged - client.unknown);
            return new Outcome(run.landed(), untold + wrong, client.unknown, client.acknowledged);
        }
    }

    private void fence()
    {
        fencedKey.close();
        fencedKey = null;
        atFence = memory.asSlice(FENCED_OFFSET, FENCED_BYTES).toArray(ValueLayout.JAVA_BYTE);
    }

    private long landed()
    {
        if (atFence == null)
        {
            throw new IllegalStateException("nobody was fenced: seed=" + world.seed());
        }
        long landed = 0;
        for (int i = 0; i < FENCED_BYTES; i++)
        {
            landed += memory.get(ValueLayout.JAVA_BYTE, FENCED_OFFSET + i) == atFence[i] ? 0 : 1;
        }
        return landed;
    }

    private static Agent agent(final String name, final RaasContext context)
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
                return name;
            }
        };
    }

    /** Both identities, as tenants of one context. */
    private static final class Client implements Agent
    {
        private final RaasContext context;
        private final MemoryRegion fencedMemory;
        private final MemoryRegion bystanderMemory;
        private final VirtualQp fenced;
        private final VirtualQp bystander;
        private long posted;
        private long acknowledged;
        private long unknown;
        private byte pattern;
        private boolean isStopping;

        private Client(final SimNode node, final PeerAddress peer)
        {
            context = RaasContext.open(node.device(), new RaasConfiguration().maxReadAtomic(4)
                .identity(new PeerIdentity(3, 1)).replayTimeoutNs(TIMEOUT_NS));
            final Tenant fencedTenant = context.tenant("fenced", new TenantOptions());
            final Tenant bystanderTenant = context.tenant("bystander", new TenantOptions());
            fencedMemory = fencedTenant.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.LOCAL_WRITE);
            bystanderMemory = bystanderTenant.protectionDomain().allocateRegistered(
                REGION_BYTES, AccessFlags.LOCAL_WRITE);
            fenced = context.connect(fencedTenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE,
                (vqp, cookie, status) ->
                {
                    // what becomes of it is seen in the memory
                }, TIMEOUT_NS);
            bystander = context.connect(bystanderTenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE,
                (vqp, cookie, status) -> onDone(status), TIMEOUT_NS);
            node.addAgent(this);
        }

        private void onDone(final int status)
        {
            acknowledged += status == WorkCompletionStatus.SUCCESS ? BATCH_REQUESTS : 0;
            unknown += status == BatchListener.OUTCOME_UNKNOWN ? BATCH_REQUESTS : 0;
        }

        @Override
        public int doWork()
        {
            final int work = context.poll();
            if (!isStopping && fenced.isReady() && fenced.peerRegions().size() > 1 && fenced.space() > 0 &&
                fenced.outstandingBatches() < BATCHES)
            {
                fencedMemory.segment().asSlice(0, FENCED_BYTES).fill(++pattern);
                fenced.begin();
                fenced.write(fencedMemory, 0, FENCED_BYTES, fenced.peerRegions().get(1), FENCED_OFFSET);
                fenced.complete(0);
            }
            if (!isStopping && bystander.isReady() && bystander.carriesWrites() &&
                bystander.space() >= BATCH_REQUESTS && bystander.outstandingBatches() < BATCHES)
            {
                add();
            }
            return work;
        }

        private void add()
        {
            bystander.begin();
            for (int i = 0; i < BATCH_REQUESTS; i++)
            {
                bystander.fetchAdd(bystanderMemory, 0, bystander.peerRegions().getFirst(), 0, 1);
            }
            posted += bystander.complete(0) == PostStatus.OK ? BATCH_REQUESTS : 0;
        }

        @Override
        public String roleName()
        {
            return "client";
        }
    }
}
