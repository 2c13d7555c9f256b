package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;

/**
 * A simulated node whose virtual queue pairs share one queue pair and keep several batches under way each: one reads,
 * two add to words of their own and read them, one calls, and one posts WRITEs under a key that is taken away now and
 * then. Checks that each batch is called back once, in order, with what may be true of it.
 */
final class ReplayTenant implements Agent
{
    static final int READER = 0;
    static final int OFFENDER = 3;
    static final int CALLER = 4;
    static final int LINES = 5;
    private static final int BATCHES = 6;
    private static final int SLOT_BYTES = 64;

    /** A batch under way. */
    private record Awaited(int cookie, int additions, boolean isReading)
    {
    }

    /** One virtual queue pair and what it awaits. */
    final class Line implements BatchListener
    {
        private final int index;
        private Tenant tenant;
        private MemoryRegion local;
        private final ArrayDeque<Awaited> awaited = new ArrayDeque<>();
        VirtualQp vqp;
        int connects;
        int unknownBatches;
        int flushedBatches;
        int refusedBatches;
        int reads;
        long acknowledged;
        long unknown;
        /** By how much a READ has seen more than what had been acknowledged before it. */
        private long mostAhead;
        private long firstFree;
        private int lastCookie;

        private Line(final int index)
        {
            this.index = index;
        }

        private void belongTo(final Tenant owner)
        {
            tenant = owner;
            local = owner.protectionDomain().allocateRegistered(
                LINES * 2 * BATCHES * SLOT_BYTES, AccessFlags.LOCAL_WRITE);
        }

        private void drive()
        {
            if (vqp != null && vqp.state() == VirtualQp.State.FAILED && awaited.isEmpty())
            {
                vqp.close();
                vqp = null;
            }
            if (vqp == null)
            {
                connects++;
                final boolean isByDc = isUsingDc && random.nextBoolean();
                vqp = context.connect(tenant, server.address(),
                    isByDc ? server.readTarget.address() : ReadTargetAddress.NONE, RemoteRegion.of(server.region),
                    this, CONNECT_NS);
            }
            if (grantNs > 0)
            {
                vqp.grantedUntil(world.clock().nanoTime() + grantNs);
            }
            for (int i = 0; i < 2 && awaited.size() < BATCHES && vqp.state() == VirtualQp.State.READY; i++)
            {
                post();
            }
        }

        private void post()
        {
            final RemoteRegion remote = RemoteRegion.of(server.region);
            final boolean isReading = index == READER || index != OFFENDER && random.nextInt(3) == 0;
            final int additions = isReading ? 0 : 1 + random.nextInt(3);
            final long slot = slot(lastCookie + 1);
            vqp.begin();
            if (isReading)
            {
                vqp.read(local, slot, Long.BYTES, remote, wordOffset());
            }
            for (int i = 0; i < additions && index != OFFENDER; i++)
            {
                if (isShared && random.nextInt(4) == 0)
                {
                    vqp.fenceNext();
                }
                vqp.fetchAdd(local, slot + 8 + i * 8L, remote, wordOffset(), 1);
            }
            if (index == OFFENDER && vqp.carriesWrites())
            {
                vqp.write(local, slot, Long.BYTES, vqp.peerRegions().get(1), 0);
            }
            else if (index == OFFENDER)
            {
                vqp.abort();
                return;
            }
            if (vqp.complete(lastCookie + 1) == PostStatus.OK)
            {
                awaited.add(new Awaited(++lastCookie, index == OFFENDER ? 0 : additions, isReading));
            }
        }

        private long wordOffset()
        {
            return 8L * (firstWord + index);
        }

        private long slot(final int cookie)
        {
            return (long)(index * 2 * BATCHES + cookie % (2 * BATCHES)) * SLOT_BYTES;
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            check(from == vqp, "callback of a virtual queue pair that was closed: " + from);
            final Awaited oldest = awaited.poll();
            check(oldest != null && oldest.cookie == cookie,
                "batch " + cookie + " ended out of order or twice, awaited " + oldest);
            switch (status)
            {
                case WorkCompletionStatus.SUCCESS -> onDone(oldest);
                case OUTCOME_UNKNOWN ->
                {
                    check(!oldest.isReading, "the outcome of a READ is unknown");
                    unknown += oldest.additions;
                    unknownBatches++;
                }
                case WorkCompletionStatus.WR_FLUSH_ERR ->
                {
                    check(from.state() == VirtualQp.State.FAILED, "flushed on " + from);
                    flushedBatches++;
                }
                default ->
                {
                    check(index == OFFENDER, "status " + WorkCompletionStatus.text(status) + " of " + from);
                    check(from.state() == VirtualQp.State.FAILED, "refused on " + from);
                    refusedBatches++;
                }
            }
        }

        private void onDone(final Awaited batch)
        {
            final long slot = slot(batch.cookie);
            if (batch.isReading)
            {
                reads++;
                final long seen = local.segment().get(ValueLayout.JAVA_LONG, slot);
                check(seen >= acknowledged, "a READ saw " + seen + " of " + acknowledged + " additions before it");
                mostAhead = Math.max(mostAhead, seen - acknowledged);
            }
            for (int i = 0; i < batch.additions; i++)
            {
                final long before = local.segment().get(ValueLayout.JAVA_LONG, slot + 8 + i * 8L);
                check(before >= firstFree, "an addition found " + before + ", one before it had found " +
                    (firstFree - 1));
                firstFree = before + 1;
            }
            acknowledged += batch.additions;
        }

        /** At the end, when nothing is under way. */
        private void judge()
        {
            check(awaited.isEmpty(), awaited.size() + " batches never ended on " + vqp);
            final long word = server.word(wordOffset());
            check(word >= acknowledged && word <= acknowledged + unknown,
                "word " + index + " is " + word + ", acknowledged " + acknowledged + ", unknown " + unknown);
            check(mostAhead <= unknown, "a READ saw " + mostAhead + " additions more than had happened, unknown are " +
                unknown);
        }
    }

    private static final long CONNECT_NS = 5_000_000;
    private static final long CALL_NS = 1_000_000;

    final RaasContext context;
    final List<Line> lines = new ArrayList<>();
    int callsAnswered;
    int callsFailed;
    boolean isStopping;
    boolean isUsingDc;
    /** How long a grant lasts that is renewed in each duty cycle; 0 for one without end. */
    long grantNs;
    private final SimWorld world;
    private final SimNode node;
    private final ReplayServer server;
    private final RandomGenerator random;
    private boolean isShared;
    private final int firstWord;
    private int callsUnderWay;

    ReplayTenant(final SimWorld world, final SimNode node, final ReplayServer server, final int nodeId,
        final RaasConfiguration configuration)
    {
        this.world = world;
        this.node = node;
        this.server = server;
        random = world.random();
        firstWord = 1 + nodeId * LINES;
        context = RaasContext.open(node.device(), configuration
            .sendQueueDepth(24).maxBatchRequests(4).rpcCredits(3).maxCalls(6).maxReadAtomic(4).sharedWindowBytes(1024)
            .identity(new PeerIdentity(nodeId, 1)));
        for (int i = 0; i < LINES; i++)
        {
            lines.add(new Line(i));
        }
        node.addAgent(this);
    }

    /** Who owns the lines: one tenant, or three that share the queue pair with quotas and weights. */
    void own(final boolean isByThree)
    {
        isShared = isByThree;
        final Tenant heavy = isShared ? context.tenant("heavy", new TenantOptions().weight(3).readDepth(3)) : null;
        final Tenant light = isShared ? context.tenant("light", new TenantOptions().queueSlots(9)) : null;
        final Tenant own = isShared ? null : context.defaultTenant();
        for (final Line line : lines)
        {
            line.belongTo(own != null ? own : line.index == OFFENDER ? context.defaultTenant() :
                line.index % 2 == 0 ? heavy : light);
        }
    }

    private void check(final boolean holds, final String what)
    {
        if (!holds)
        {
            throw new AssertionError(node.name() + ": " + what);
        }
    }

    @Override
    public int doWork()
    {
        final int work = grantNs > 0 ? context.poll(world.clock().nanoTime()) : context.poll();
        for (final Line line : lines)
        {
            if (!isStopping)
            {
                line.drive();
            }
        }
        if (!isStopping && callsUnderWay < 3)
        {
            call(lines.get(CALLER).vqp);
        }
        return work;
    }

    private void call(final VirtualQp vqp)
    {
        final UnsafeBuffer request = new UnsafeBuffer(new byte[Long.BYTES]);
        request.putLong(0, random.nextLong());
        final long id = context.rpcClient().call(vqp, 1, request, 0, Long.BYTES, CALL_NS,
            (callId, status, payload, offset, length) -> onReply(status, request, payload, offset));
        callsUnderWay += id > 0 ? 1 : 0;
    }

    private void onReply(
        final RpcStatus status, final DirectBuffer request, final DirectBuffer payload, final int offset)
    {
        callsUnderWay--;
        callsAnswered += status == RpcStatus.OK ? 1 : 0;
        callsFailed += status == RpcStatus.OK ? 0 : 1;
        check(status != RpcStatus.OK || payload.getLong(offset) == request.getLong(0), "the reply of another call");
    }

    long total(final ToLongFunction<Line> figure)
    {
        return lines.stream().mapToLong(figure).sum();
    }

    boolean isQuiet()
    {
        return callsUnderWay == 0 && lines.stream().allMatch(line -> line.awaited.isEmpty());
    }

    /** After everything has ended. */
    void judge()
    {
        lines.forEach(Line::judge);
        check(callsUnderWay == 0, callsUnderWay + " calls never ended");
        check(context.openBatches() == 0, context.openBatches() + " batches are open still");
        check(context.replays().unknownOutcomes() == total(line -> line.unknownBatches),
            "counted as unknown: " + context.replays() + ", reported " + total(line -> line.unknownBatches));
    }

    @Override
    public String roleName()
    {
        return "tenant";
    }
}
