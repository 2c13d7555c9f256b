package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimFaultOptions;
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
import java.util.ArrayDeque;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One requester READs its own word and adds to it, all the time, while its virtual queue pair goes from DC to its queue
 * pair: each READ sees exactly the additions that were posted before it, each batch is called back once and in order,
 * also when the server dies, the connection breaks, or either side stands still. Seeds decide everything.
 */
class TransportOrderSimTest
{
    private static final int SEEDS = 150;
    private static final int SLOTS = 16;

    /** Keeps up to {@link #SLOTS} batches under way, alternately a READ and an addition as far as they are taken. */
    private static final class Requester implements Agent, BatchListener
    {
        private record Awaited(int cookie, boolean isRead, long additionsBefore)
        {
        }

        private final RaasContext context;
        private final SimServer server;
        private final MemoryRegion local;
        private final ArrayDeque<Awaited> awaited = new ArrayDeque<>();
        private VirtualQp vqp;
        private int lastCookie;
        private long additions;
        private long additionsLost;
        private int readsByDc;
        private int readsByQueuePair;
        private int switches;
        private int failures;
        private boolean wasByDc;
        private boolean isStopping;

        private Requester(final SimNode node, final SimServer server)
        {
            this.server = server;
            context = RaasContext.open(node.device(), new RaasConfiguration().identity(new PeerIdentity(2, 1)));
            local = context.protectionDomain().allocateRegistered(SLOTS * 16L, AccessFlags.LOCAL_WRITE);
            connect();
            node.addAgent(this);
        }

        private void connect()
        {
            vqp = context.connect(
                server.address(), server.readTarget.address(), RemoteRegion.of(server.region), this, 10_000_000);
        }

        @Override
        public int doWork()
        {
            if (vqp.state() == VirtualQp.State.FAILED && awaited.isEmpty() && !isStopping)
            {
                vqp.close();
                connect();
            }
            int work = context.poll();
            while (!isStopping && awaited.size() < SLOTS && post())
            {
                work++;
            }
            return work;
        }

        private boolean post()
        {
            final boolean isByDc = vqp.state() == VirtualQp.State.READY && !vqp.carriesWrites();
            switches += wasByDc && vqp.carriesWrites() ? 1 : 0;
            wasByDc = isByDc;
            return isByDc || lastCookie % 2 == 0 ? read(isByDc) : add();
        }

        private boolean read(final boolean isByDc)
        {
            vqp.begin();
            vqp.read(local, (lastCookie + 1) % SLOTS * 16L, 8, RemoteRegion.of(server.region), 8);
            if (vqp.complete(lastCookie + 1) != PostStatus.OK)
            {
                return false;
            }
            awaited.add(new Awaited(++lastCookie, true, additions));
            readsByDc += isByDc ? 1 : 0;
            readsByQueuePair += isByDc ? 0 : 1;
            return true;
        }

        private boolean add()
        {
            vqp.begin();
            vqp.fetchAdd(local, (lastCookie + 1) % SLOTS * 16L, RemoteRegion.of(server.region), 8, 1);
            if (vqp.complete(lastCookie + 1) != PostStatus.OK)
            {
                return false;
            }
            awaited.add(new Awaited(++lastCookie, false, additions++));
            return true;
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            final Awaited oldest = awaited.remove();
            assertThat(cookie).as("order of callbacks").isEqualTo(oldest.cookie);
            if (status != WorkCompletionStatus.SUCCESS)
            {
                failures++;
                additionsLost += oldest.isRead ? 0 : 1;
                return;
            }
            final long seen = local.segment().get(ValueLayout.JAVA_LONG, cookie % SLOTS * 16L);
            // Additions that failed may have been executed or not.
            assertThat(seen).as("what batch %s, isRead=%s, saw", cookie, oldest.isRead)
                .isBetween(oldest.additionsBefore - additionsLost, oldest.additionsBefore);
        }

        @Override
        public String roleName()
        {
            return "requester";
        }
    }

    private long readsByDc;
    private long switches;
    private long failures;

    private void run(final int seed, final boolean hasFaults)
    {
        final SimFabricOptions options = new SimFabricOptions().retryTimeoutNs(300_000).rnrTimeoutNs(1);
        try (SimWorld world = new SimWorld(seed, options))
        {
            final SimServer server = new SimServer(world.addNode("server"), new RaasConfiguration());
            final Requester requester = new Requester(world.addNode("requester"), server);
            if (hasFaults)
            {
                world.injectFaults(new SimFaultOptions().victims("requester", "server").peers("server")
                    .kills(1).pauses(2, 100_000).breaks(2).horizonNs(300_000));
            }
            world.runFor(1_000_000);
            requester.isStopping = true;
            if (!hasFaults)
            {
                world.runUntil(requester.awaited::isEmpty, 10_000_000);
                assertThat(requester.failures).as("seed %s", seed).isZero();
                assertThat(requester.switches).as("seed %s", seed).isEqualTo(1);
                assertThat(requester.readsByQueuePair).as("seed %s", seed).isPositive();
                assertThat(server.word(8)).isEqualTo(requester.additions);
                assertThat(requester.context.usage().dcInitiators()).isEqualTo(1);
            }
            readsByDc += requester.readsByDc;
            switches += requester.switches;
            failures += requester.failures;
        }
    }

    @Test
    void shouldKeepOrderWhenTheQueuePairTakesOver()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            run(seed, false);
        }
        assertThat(readsByDc).as("READs before connecting was over").isGreaterThan(SEEDS);
    }

    @Test
    void shouldKeepOrderAndCallBackOnceUnderFaults()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            run(seed, true);
        }
        assertThat(switches).isPositive();
        assertThat(failures).as("faults must have hit something").isPositive();
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(() -> run(1, false));
        SimRepetition.check(() -> run(2, true));
    }
}
