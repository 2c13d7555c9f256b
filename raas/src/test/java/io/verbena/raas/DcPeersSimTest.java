package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.rpc.RpcStatus;
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
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node with room for two queue pairs and two initiators adds to words of six others, reads and calls them, while
 * which of them it uses most changes: each goes from DC to a queue pair and back many times. Whatever breaks, dies or
 * stands still, at moments that seeds decide, no addition is executed twice, each batch is called back once, in order.
 */
class DcPeersSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.dcpeers.seeds", 40);
    private static final int MOMENTS = Integer.getInteger("verbena.dcpeers.moments", 120);
    private static final int SERVERS = 6;
    private static final int CHANNELS = 2;
    private static final int BATCHES = 4;
    private static final int SLOT_BYTES = 32;
    private static final int PORT = 7;
    private static final long RUN_NS = 5_000_000;
    private static final long SETTLE_NS = 20_000_000;
    private static final long REPLAY_NS = 3_000_000;

    /** Grants a region under a key of its caller's own, which everybody else may only read. */
    private static final class Server implements Agent
    {
        private final SimNode node;
        private final RaasContext context;
        private final MemoryRegion region;
        private final MemoryRegion own;
        private final ReadTarget target;
        private final int nodeId;

        private Server(final SimNode node, final int nodeId)
        {
            this.node = node;
            this.nodeId = nodeId;
            context = RaasContext.open(node.device(), new RaasConfiguration().identity(new PeerIdentity(nodeId, 1)));
            region = context.protectionDomain().allocateRegistered(64, AccessFlags.REMOTE_READ);
            own = context.protectionDomain().register(region.segment(), AccessFlags.ALL_REMOTE);
            context.serve(PORT, (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], own),
                (caller, method, request, offset, length, reply) ->
                {
                    reply.buffer().putBytes(reply.offset(), request, offset, length);
                    return length;
                });
            target = context.openTarget(77);
            node.addAgent(this);
        }

        private PeerAddress address()
        {
            return new PeerAddress(node.device().address(), PORT, nodeId, 1);
        }

        private long word()
        {
            return region.segment().get(ValueLayout.JAVA_LONG, 8);
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

    /** The virtual queue pair to one server. */
    private final class Line implements BatchListener
    {
        private record Awaited(int cookie, int additions, boolean isReading)
        {
        }

        private final Requester requester;
        private final Server server;
        private final int index;
        private final ArrayDeque<Awaited> awaited = new ArrayDeque<>();
        private final VirtualQp vqp;
        private long acknowledged;
        private long unknown;
        private long firstFree;
        private long mostAhead;
        private int lastCookie;
        private String way = "none";

        private Line(final Requester requester, final Server server, final int index)
        {
            this.requester = requester;
            this.server = server;
            this.index = index;
            vqp = requester.context.connect(server.address(), server.target.address(), RemoteRegion.of(server.region),
                this, 50_000_000);
        }

        private void post()
        {
            if (!vqp.carriesWrites())
            {
                return;
            }
            if (!way.equals(vqp.transport()))
            {
                way = vqp.transport();
                switches++;
            }
            final boolean isReading = requester.world.random().nextInt(4) == 0;
            final int additions = isReading ? 0 : 1 + requester.world.random().nextInt(2);
            final long slot = slot(lastCookie + 1);
            vqp.begin();
            if (isReading)
            {
                vqp.read(requester.local, slot, Long.BYTES, 8);
            }
            for (int i = 0; i < additions; i++)
            {
                vqp.fetchAdd(requester.local, slot + 8 + i * 8L, vqp.peerRegions().getFirst(), 8, 1);
            }
            if (vqp.complete(lastCookie + 1) == PostStatus.OK)
            {
                awaited.add(new Awaited(++lastCookie, additions, isReading));
                byDc += "dc".equals(way) && additions > 0 ? 1 : 0;
                byQueuePair += "dc".equals(way) ? 0 : 1;
            }
        }

        private long slot(final int cookie)
        {
            return (long)(index * 2 * BATCHES + cookie % (2 * BATCHES)) * SLOT_BYTES;
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            final Awaited oldest = awaited.poll();
            assertThat(oldest).as("awaited").isNotNull();
            assertThat(cookie).as("order of callbacks").isEqualTo(oldest.cookie);
            if (status == WorkCompletionStatus.SUCCESS)
            {
                onDone(oldest);
            }
            else if (status == OUTCOME_UNKNOWN)
            {
                assertThat(oldest.isReading).as("the outcome of a READ is unknown").isFalse();
                unknown += oldest.additions;
                unknownBatches++;
            }
            else
            {
                assertThat(from.state()).as("status %s", status).isEqualTo(VirtualQp.State.FAILED);
            }
        }

        private void onDone(final Awaited batch)
        {
            final long slot = slot(batch.cookie);
            if (batch.isReading)
            {
                // What is posted again may see what a later batch did whose outcome is unknown.
                final long seen = requester.local.segment().get(ValueLayout.JAVA_LONG, slot);
                assertThat(seen).as("what a READ saw").isGreaterThanOrEqualTo(acknowledged);
                mostAhead = Math.max(mostAhead, seen - acknowledged);
            }
            for (int i = 0; i < batch.additions; i++)
            {
                final long before = requester.local.segment().get(ValueLayout.JAVA_LONG, slot + 8 + i * 8L);
                assertThat(before).as("what an addition found").isGreaterThanOrEqualTo(firstFree);
                firstFree = before + 1;
            }
            acknowledged += batch.additions;
        }

        private void judge()
        {
            assertThat(awaited).as("never ended on %s", vqp).isEmpty();
            assertThat(server.word()).isBetween(acknowledged, acknowledged + unknown);
            assertThat(mostAhead).as("seen before it had happened").isLessThanOrEqualTo(unknown);
        }
    }

    private final class Requester implements Agent
    {
        private final SimWorld world;
        private final RaasContext context;
        private final MemoryRegion local;
        private final List<Line> lines = new ArrayList<>();
        private int callsUnderWay;
        private int busiest;
        private boolean isStopping;

        private Requester(final SimWorld world, final SimNode node, final List<Server> servers)
        {
            this.world = world;
            context = RaasContext.open(node.device(), new RaasConfiguration().maxChannels(CHANNELS).dcInitiators(2)
                .replayTimeoutNs(REPLAY_NS).identity(new PeerIdentity(99, 1)).maxBatchRequests(16));
            local = context.protectionDomain().allocateRegistered(
                SERVERS * 2L * BATCHES * SLOT_BYTES, AccessFlags.LOCAL_WRITE);
            for (final Server server : servers)
            {
                lines.add(new Line(this, server, lines.size()));
            }
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            final int work = context.poll(world.clock().nanoTime());
            assertThat(context.usage().queuePairs()).isLessThanOrEqualTo(CHANNELS);
            assertThat(context.usage().dcInitiators()).isLessThanOrEqualTo(2);
            for (int i = 0; i < 3 && !isStopping; i++)
            {
                busiest = world.random().nextInt(2_000) == 0 ? world.random().nextInt(SERVERS) : busiest;
                final Line line =
                    lines.get(world.random().nextInt(3) > 0 ? busiest : world.random().nextInt(SERVERS));
                if (line.awaited.size() < BATCHES && line.vqp.isReady())
                {
                    line.post();
                }
            }
            if (!isStopping && callsUnderWay == 0 && world.random().nextInt(500) == 0)
            {
                call(lines.get(world.random().nextInt(SERVERS)).vqp);
            }
            return work;
        }

        private void call(final VirtualQp vqp)
        {
            final UnsafeBuffer request = new UnsafeBuffer(new byte[Long.BYTES]);
            callsUnderWay += context.rpcClient().call(vqp, 1, request, 0, Long.BYTES, 2_000_000,
                (callId, status, payload, offset, length) ->
                {
                    callsUnderWay--;
                    answers += status == RpcStatus.OK ? 1 : 0;
                }) > 0 ? 1 : 0;
        }

        private boolean isQuiet()
        {
            return callsUnderWay == 0 && lines.stream().allMatch(line -> line.awaited.isEmpty());
        }

        private long total(final ToLongFunction<Line> figure)
        {
            return lines.stream().mapToLong(figure).sum();
        }

        @Override
        public String roleName()
        {
            return "requester";
        }
    }

    private long switches;
    private long byDc;
    private long byQueuePair;
    private long answers;
    private long unknownBatches;
    private long replaced;

    private void run(final long seed, final boolean isJudgedWhole, final Consumer<SimWorld> faults)
    {
        final SimFabricOptions options = new SimFabricOptions().retryTimeoutNs(300_000).rnrTimeoutNs(1);
        try (SimWorld world = new SimWorld(seed, options))
        {
            final List<Server> servers = new ArrayList<>();
            for (int i = 0; i < SERVERS; i++)
            {
                servers.add(new Server(world.addNode("server-" + i), i + 1));
            }
            final SimNode node = world.addNode("requester");
            final Requester requester = new Requester(world, node, servers);
            faults.accept(world);
            world.runFor(RUN_NS);
            requester.isStopping = true;
            for (int i = 0; i < 20 && node.isRunning() && !requester.isQuiet(); i++)
            {
                world.runFor(SETTLE_NS);
            }
            if (node.isRunning())
            {
                requester.lines.forEach(Line::judge);
                assertThat(requester.context.openBatches()).isZero();
                assertThat(requester.context.replays().unknownOutcomes())
                    .isEqualTo(requester.total(line -> line.vqp.unknownOutcomes()));
                replaced += requester.context.replays().queuePairs();
            }
            if (isJudgedWhole)
            {
                assertThat(requester.lines).allMatch(line -> line.vqp.isReady());
                assertThat(requester.total(line -> line.unknown)).isZero();
                requester.lines.forEach(line -> assertThat(line.server.word()).isEqualTo(line.acknowledged));
            }
        }
    }

    private static Consumer<SimWorld> breaks(final int count)
    {
        return world ->
        {
            for (int i = 0; i < count; i++)
            {
                final int server = world.random().nextInt(SERVERS);
                world.after(500_000 + world.random().nextLong(RUN_NS - 600_000), () ->
                    world.nodes().get(server).device().breakConnections(world.nodes().get(SERVERS).device()));
            }
        };
    }

    private void calm(final int seed)
    {
        run(seed, true, world ->
        {
        });
    }

    @Test
    void shouldServeAllWithFewQueuePairsAndInitiators()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            calm(seed);
        }
        assertThat(switches).as("of transport").isGreaterThan(5L * SERVERS * SEEDS);
        assertThat(byDc).isGreaterThan(100L * SEEDS);
        assertThat(byQueuePair).isGreaterThan(100L * SEEDS);
        assertThat(answers).isGreaterThan(SEEDS);
    }

    @Test
    void shouldExecuteNothingTwiceWhenConnectionsBreak()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            run(seed, false, breaks(6));
        }
        assertThat(unknownBatches).isGreaterThan(SEEDS);
    }

    /** Close to each other and to the switches: between any two requests. */
    @Test
    void shouldHoldWhicheverMomentItBreaks()
    {
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            final long atNs = 1_000_000 + moment * 1_300L;
            run(5, false, world ->
            {
                for (int i = 0; i < SERVERS; i++)
                {
                    final SimNode server = world.nodes().get(i);
                    world.after(atNs + i * 40_000L,
                        () -> server.device().breakConnections(world.nodes().get(SERVERS).device()));
                }
            });
        }
        assertThat(unknownBatches).isPositive();
    }

    @Test
    void shouldHoldUnderMixedFaults()
    {
        for (int seed = 1; seed <= 2 * SEEDS; seed++)
        {
            run(seed, false, world -> world.injectFaults(new SimFaultOptions()
                .victims("requester", "server-0", "server-3").peers("server-1", "server-2")
                .kills(1).pauses(3, 200_000).breaks(3).horizonNs(RUN_NS)));
        }
        assertThat(replaced).isPositive();
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(() -> calm(3));
        SimRepetition.check(() -> run(4, false, breaks(4)));
    }
}
