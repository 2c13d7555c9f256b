package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * A simulated node with several virtual queue pairs to one server: posts batches that add 1 to words of its own, calls,
 * misuses, closes, and connects anew what failed. Checks that each batch and call ends exactly once, in order, and
 * counts what was acknowledged and what may have happened.
 */
final class SimTenant implements Agent
{
    static final int VQPS = 6;
    static final long CALL_TIMEOUT_NS = 200_000;
    private static final int WORDS_OFFSET = 8;

    /** One virtual queue pair and what it awaits. */
    private final class Line implements BatchListener
    {
        private final int index;
        private final ArrayDeque<int[]> awaited = new ArrayDeque<>();
        private VirtualQp vqp;
        private int lastCookie;

        private Line(final int index)
        {
            this.index = index;
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            check(from == vqp, "callback of a virtual queue pair that was closed: " + from);
            final int[] oldest = awaited.poll();
            check(oldest != null && oldest[0] == cookie, "batch " + cookie + " completed out of order or twice");
            check(status != WorkCompletionStatus.RNR_RETRY_EXC_ERR, "RNR");
            if (status == WorkCompletionStatus.SUCCESS)
            {
                acknowledged[index] += oldest[1];
                check(from.state() == VirtualQp.State.READY, "success on " + from);
            }
            else
            {
                unknown[index] += oldest[1];
                failedBatches++;
                check(from.state() == VirtualQp.State.FAILED, "failure on " + from);
                check(!from.failure().contains("RNR"), from.failure());
            }
        }
    }

    final RaasContext context;
    final long[] acknowledged = new long[VQPS];
    final long[] unknown = new long[VQPS];
    final List<RpcStatus> callsEnded = new ArrayList<>();
    int failedBatches;
    int reconnects;
    int misuses;
    int closes;
    int batchesByDc;
    boolean isStopping;
    private final SimWorld world;
    private final SimNode node;
    private final RandomGenerator random;
    private final SimServer server;
    private final int firstWord;
    private final MemoryRegion local;
    private final List<Line> lines = new ArrayList<>();
    private final Map<Long, Long> callDeadlines = new HashMap<>();

    SimTenant(final SimWorld world, final SimNode node, final SimServer server, final int nodeId)
    {
        this(world, node, server, nodeId, true);
    }

    SimTenant(
        final SimWorld world,
        final SimNode node,
        final SimServer server,
        final int nodeId,
        final boolean isSharingReceives)
    {
        this.world = world;
        this.node = node;
        this.server = server;
        random = world.random();
        firstWord = WORDS_OFFSET + nodeId * VQPS * Long.BYTES;
        context = RaasContext.open(node.device(), new RaasConfiguration()
            .sendQueueDepth(24).maxBatchRequests(8).rpcCredits(3).maxCalls(6).maxReadAtomic(4)
            .sharesReceives(isSharingReceives)
            .identity(new PeerIdentity(nodeId, 1)));
        local = context.protectionDomain().allocateRegistered(4096, AccessFlags.LOCAL_WRITE);
        for (int i = 0; i < VQPS; i++)
        {
            lines.add(new Line(i));
        }
        node.addAgent(this);
    }

    private void check(final boolean holds, final String what)
    {
        if (!holds)
        {
            throw new AssertionError(node.name() + ": " + what);
        }
    }

    boolean isQuiet()
    {
        return callDeadlines.isEmpty() && lines.stream().allMatch(line -> line.awaited.isEmpty());
    }

    long word(final int line)
    {
        return server.word(firstWord + (long)line * Long.BYTES);
    }

    @Override
    public int doWork()
    {
        int work = context.poll();
        if (!isStopping)
        {
            for (final Line line : lines)
            {
                work += drive(line);
            }
        }
        for (final long deadlineNs : callDeadlines.values())
        {
            // Idle agents sleep for a while, so a little later is in time.
            check(deadlineNs + 10 * CALL_TIMEOUT_NS - world.clock().nanoTime() > 0, "a call outlived its deadline");
        }
        return work;
    }

    private int drive(final Line line)
    {
        if (line.vqp == null || line.vqp.state() == VirtualQp.State.FAILED)
        {
            check(line.awaited.isEmpty(), "a failed virtual queue pair still owes callbacks: " + line.vqp);
            if (line.vqp != null && line.vqp.failure().contains("was fenced"))
            {
                return 0;
            }
            if (line.vqp != null)
            {
                line.vqp.close();
                reconnects++;
            }
            final boolean isByDc = random.nextInt(4) != 0;
            line.vqp = context.connect(
                server.address(), isByDc ? server.readTarget.address() : ReadTargetAddress.NONE,
                RemoteRegion.of(server.region), line, 5_000_000);
            return 1;
        }
        if (line.vqp.state() != VirtualQp.State.READY || line.vqp.space() == 0 || random.nextInt(4) != 0)
        {
            return 0;
        }
        final int dice = random.nextInt(100);
        if (dice < 3)
        {
            close(line);
        }
        else if (dice < 10)
        {
            misuse(line.vqp);
        }
        else if (dice < 30)
        {
            call(line.vqp);
        }
        else
        {
            post(line);
        }
        return 1;
    }

    private void post(final Line line)
    {
        final int requests = 1 + random.nextInt(8);
        boolean fits = line.vqp.space() >= requests;
        line.vqp.begin();
        int added = 0;
        for (int i = 0; i < requests; i++)
        {
            if (random.nextBoolean())
            {
                line.vqp.fetchAdd(local, 0, RemoteRegion.of(server.region), firstWord + line.index * 8L, 1);
                added++;
            }
            else
            {
                line.vqp.read(local, 64, 256, RemoteRegion.of(server.region), 0);
            }
        }
        final boolean isByDc = !line.vqp.carriesWrites();
        fits &= added == 0 || !isByDc;
        final int status = line.vqp.complete(++line.lastCookie);
        check(status == (fits ? PostStatus.OK : PostStatus.QUEUE_FULL), "complete() said " + status + ", fits=" + fits);
        if (status == PostStatus.OK)
        {
            line.awaited.add(new int[]{line.lastCookie, added});
            batchesByDc += isByDc ? 1 : 0;
        }
    }

    private void close(final Line line)
    {
        for (final int[] batch : line.awaited)
        {
            unknown[line.index] += batch[1];
        }
        line.awaited.clear();
        line.vqp.close();
        line.vqp = null;
        closes++;
    }

    private void misuse(final VirtualQp vqp)
    {
        vqp.begin();
        vqp.fetchAdd(local, 0, RemoteRegion.of(server.region), firstWord, 1);
        try
        {
            vqp.read(local, 0, 8, RemoteRegion.of(server.region), SimServer.REGION_BYTES - 7);
            check(false, "a request outside of the region was taken");
        }
        catch (final RaasMisuseException ex)
        {
            misuses++;
        }
    }

    private void call(final VirtualQp vqp)
    {
        final UnsafeBuffer request = new UnsafeBuffer(new byte[Long.BYTES]);
        request.putLong(0, random.nextLong());
        final long id = context.rpcClient().call(
            vqp, 1, request, 0, Long.BYTES, CALL_TIMEOUT_NS, (callId, status, payload, offset, length) ->
                onReply(callId, status, request, payload, offset, length));
        if (id > 0)
        {
            check(callDeadlines.put(id, world.clock().nanoTime() + CALL_TIMEOUT_NS) == null, "call number given twice");
        }
    }

    private void onReply(
        final long callId,
        final RpcStatus status,
        final DirectBuffer request,
        final DirectBuffer payload,
        final int offset,
        final int length)
    {
        check(callDeadlines.remove(callId) != null, "call " + callId + " ended twice");
        check(status != RpcStatus.REFUSED, "an echo was refused");
        if (status == RpcStatus.OK)
        {
            check(length == Long.BYTES && payload.getLong(offset) == request.getLong(0), "the reply of another call");
        }
        else
        {
            check(!payload.getStringWithoutLengthUtf8(offset, length).contains("RNR"), "RNR");
        }
        callsEnded.add(status);
    }


    @Override
    public String roleName()
    {
        return "tenant";
    }
}
