package io.verbena.memory;

import io.verbena.raas.Admission;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimRepetition;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;

import static org.assertj.core.api.Assertions.assertThat;

/** Two identities, each with a key of its own, over one queue pair: one is fenced while both write. */
class IdentityKeysSimTest
{
    private static final int SEEDS = 150;
    private static final int REGION_BYTES = 1 << 16;
    /** Where the identities write; each has a part of its own. */
    private static final int PART_BYTES = 1 << 12;
    private static final int PORT = 2;
    private static final long TIMEOUT_NS = 50_000_000;
    private static final long MAX_STEPS = 2_000_000;
    private static final PeerIdentity FENCED = new PeerIdentity(7, 3);
    private static final PeerIdentity OTHER = new PeerIdentity(8, 4);

    /** A memory node as far as keys go: whoever connects gets the keys of both identities. */
    private static final class Memory implements Agent
    {
        private final SimNode node;
        private final RaasContext raas;
        private final MemoryRegion region;
        private final IdentityKeys keys;
        private final RpcServer server;

        private Memory(final SimNode node)
        {
            this.node = node;
            raas = RaasContext.open(node.device(), new RaasConfiguration());
            region = raas.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.LOCAL_WRITE);
            keys = new IdentityKeys(raas.protectionDomain(), region);
            server = raas.serve(
                PORT,
                (caller, _) -> Admission.accept(
                    AccessFlags.ALL_REMOTE, new byte[0], keys.grant(FENCED), keys.grant(OTHER)),
                (caller, method, request, offset, length, reply) -> 0);
            node.addAgent(this);
        }

        private PeerAddress address()
        {
            return new PeerAddress(node.device().address(), PORT, 1, 1);
        }

        private byte[] part(final int index)
        {
            return region.segment().asSlice((long)index * PART_BYTES, PART_BYTES).toArray(ValueLayout.JAVA_BYTE);
        }

        private long word(final long offset)
        {
            return region.segment().get(ValueLayout.JAVA_LONG, offset);
        }

        @Override
        public int doWork()
        {
            return raas.poll();
        }

        @Override
        public String roleName()
        {
            return "memory";
        }
    }

    /** One identity: writes long and short, adds to a word of its own, as long as it may. */
    private static final class Tenant implements BatchListener
    {
        private final int index;
        private final RaasContext raas;
        private final MemoryRegion local;
        private VirtualQp vqp;
        private boolean isWriting = true;
        private int posted;
        private int succeeded;
        private int failed;

        private Tenant(final int index, final RaasContext raas, final PeerAddress memory)
        {
            this.index = index;
            this.raas = raas;
            local = raas.protectionDomain().allocateRegistered(PART_BYTES, AccessFlags.LOCAL_WRITE);
            vqp = raas.connect(memory, this, TIMEOUT_NS);
        }

        private int work()
        {
            if (!isWriting || VirtualQp.State.READY != vqp.state() || vqp.space() < 2 || vqp.outstandingBatches() > 2)
            {
                return 0;
            }
            final RemoteRegion remote = vqp.peerRegions().get(index);
            final long part = (long)index * PART_BYTES;
            local.segment().fill((byte)(posted + 1));
            vqp.begin();
            vqp.write(local, 8, PART_BYTES - 16, remote, part + 8);
            vqp.fetchAdd(local, 0, remote, part, 1);
            final boolean isPosted = PostStatus.OK == vqp.complete(posted);
            posted += isPosted ? 1 : 0;
            return isPosted ? 1 : 0;
        }

        private boolean isIdle()
        {
            return 0 == vqp.outstandingBatches();
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            succeeded += WorkCompletionStatus.SUCCESS == status ? 1 : 0;
            failed += WorkCompletionStatus.SUCCESS == status ? 0 : 1;
        }
    }

    /** A node with both identities on one queue pair. */
    private static final class Compute implements Agent
    {
        private final RaasContext raas;
        private final Tenant fenced;
        private final Tenant other;

        private Compute(final SimNode node, final PeerAddress memory)
        {
            raas = RaasContext.open(node.device(), new RaasConfiguration().identity(OTHER));
            fenced = new Tenant(0, raas, memory);
            other = new Tenant(1, raas, memory);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            return raas.poll() + fenced.work() + other.work();
        }

        @Override
        public String roleName()
        {
            return "compute";
        }
    }

    private static SimFabricOptions options(final long seed)
    {
        final SimFabricOptions options = new SimFabricOptions();
        return seed % 3 == 0 ? options.longDelay(0.05, 40_000) : options;
    }

    /** It posts nothing after its grant ended; what it had posted is done when it is fenced, a margin later. */
    @Test
    void shouldLoseNothingOfTheOtherIdentityWhenTheFencedOneStoppedInTime()
    {
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (SimWorld world = new SimWorld(seed, options(seed)))
            {
                final Memory memory = new Memory(world.addNode("memory"));
                final Compute compute = new Compute(world.addNode("compute"), memory.address());
                world.runUntil(() -> compute.fenced.succeeded > 3 + world.seed() % 5, MAX_STEPS);
                assertThat(compute.raas.usage().queuePairs()).as("one queue pair for both").isEqualTo(1);
                compute.fenced.isWriting = false;
                world.runFor(1_000_000);
                assertThat(memory.keys.revoke(FENCED)).isEqualTo(1);
                final byte[] atFence = memory.part(0);
                final int before = compute.other.succeeded;
                world.runUntil(() -> compute.other.succeeded > before + 10, MAX_STEPS);
                compute.other.isWriting = false;
                world.runUntil(compute.other::isIdle, MAX_STEPS);
                assertThat(compute.other.failed).as("seed %s", seed).isZero();
                assertThat(compute.fenced.failed).as("seed %s", seed).isZero();
                assertThat(memory.word(PART_BYTES)).isEqualTo(compute.other.posted);
                assertThat(memory.part(0)).as("seed %s", seed).isEqualTo(atFence);
                assertThat(memory.keys.count()).isEqualTo(1);
            }
        }
    }

    /**
     * It posts on: not a byte of it lands once it is fenced, at whatever moment of its requests. What is
     * reported to the other one as done is done; what as failed ran at most once; and it goes on over a new queue pair.
     */
    @Test
    void shouldLandNothingOfAnIdentityThatPostsOnAfterItWasFenced()
    {
        int torn = 0;
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (SimWorld world = new SimWorld(seed, options(seed)))
            {
                final Memory memory = new Memory(world.addNode("memory"));
                final Compute compute = new Compute(world.addNode("compute"), memory.address());
                world.runUntil(() -> compute.fenced.succeeded > 3, MAX_STEPS);
                world.runFor(world.random().nextLong(1, 20_000));
                memory.keys.revoke(FENCED);
                final byte[] atFence = memory.part(0);
                torn += atFence[8] == atFence[PART_BYTES - 16] ? 0 : 1;
                world.runUntil(() -> VirtualQp.State.FAILED == compute.fenced.vqp.state(), MAX_STEPS);
                world.runUntil(() -> compute.fenced.isIdle() && compute.other.isIdle(), MAX_STEPS);
                assertThat(memory.part(0)).as("seed %s", seed).isEqualTo(atFence);
                final Tenant other = compute.other;
                assertThat(memory.word(PART_BYTES)).as("seed %s", seed).isBetween(
                    (long)other.succeeded, (long)other.succeeded + other.failed);
                assertThat(other.succeeded + other.failed).isEqualTo(other.posted);
                other.vqp.close();
                other.vqp = compute.raas.connect(memory.address(), other, TIMEOUT_NS);
                final int before = other.succeeded;
                world.runUntil(() -> other.succeeded > before + 3, MAX_STEPS);
            }
        }
        assertThat(torn).as("some fence must come in the midst of a WRITE").isPositive();
    }

    @Test
    void shouldRevokeEarlierIncarnationsAndNoOthers()
    {
        try (SimWorld world = new SimWorld(1, new SimFabricOptions()))
        {
            final Memory memory = new Memory(world.addNode("memory"));
            final IdentityKeys keys = memory.keys;
            final int first = keys.grant(new PeerIdentity(7, 1)).remoteKey();
            assertThat(keys.grant(new PeerIdentity(7, 1)).remoteKey()).isEqualTo(first);
            assertThat(keys.grant(new PeerIdentity(7, 2)).remoteKey()).isNotEqualTo(first);
            keys.grant(new PeerIdentity(7, 4));
            keys.grant(OTHER);
            assertThat(keys.revoke(FENCED)).isEqualTo(2);
            assertThat(keys.has(new PeerIdentity(7, 1))).isFalse();
            assertThat(keys.has(new PeerIdentity(7, 2))).isFalse();
            assertThat(keys.has(new PeerIdentity(7, 4))).isTrue();
            assertThat(keys.has(OTHER)).isTrue();
            assertThat(keys.revoke(FENCED)).isZero();
            keys.close();
            assertThat(keys.count()).isZero();
            keys.close();
        }
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(this::shouldLandNothingOfAnIdentityThatPostsOnAfterItWasFenced);
    }
}
