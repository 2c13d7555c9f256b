package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageOptions;
import io.verbena.raas.message.MessageState;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * A simulated node that opens message endpoints with a server or accepts them, sends numbered messages and WRITEs,
 * keeps some of what it gets, closes, and opens anew. Each conversation has a number of its own, known to both ends, so
 * that what one end has sent can be compared with what the other has got.
 */
final class MessageSimPeer implements Agent
{
    static final int PORT = 7;
    static final int LINES = 4;
    private static final int CREDITS = 3;
    private static final int SLOT_BYTES = 64;
    private static final int SLOTS = 256;
    private static final long OPEN_TIMEOUT_NS = 400_000;

    /** One end of a conversation. */
    final class Line implements MessageEndpoint.Listener
    {
        final long conversation;
        private final ArrayDeque<Integer> awaited = new ArrayDeque<>();
        private final ArrayDeque<Integer> kept = new ArrayDeque<>();
        /** What the other end may write to, and behind it what is sent. */
        private final MemoryRegion memory;
        private MessageEndpoint endpoint;
        private boolean isOver;
        /** What was posted; what is known to have arrived, to have had no effect, and neither. */
        int posted;
        int delivered;
        int withoutEffect;
        int unknown;
        int got;
        boolean isClosedHere;

        private Line(final long conversation, final MemoryRegion memory)
        {
            this.conversation = conversation;
            this.memory = memory;
        }

        @Override
        public void onOpened(final MessageEndpoint opened)
        {
            check(got == 0 && posted == 0, "opened twice");
            endpoint = opened;
        }

        @Override
        public boolean onMessage(
            final MessageEndpoint from, final int message, final DirectBuffer buffer, final int offset,
            final int lengthBytes)
        {
            check(lengthBytes == 16, "a message of " + lengthBytes + " bytes");
            return take(message, buffer.getLong(offset), buffer.getLong(offset + 8));
        }

        @Override
        public boolean onWrite(final MessageEndpoint from, final int message, final int kind, final int lengthBytes)
        {
            check(lengthBytes == 16 && kind == got % 8, "a WRITE of kind " + kind + " as message " + got);
            final long offset = (long)got * SLOT_BYTES;
            return take(message, memory.segment().get(ValueLayout.JAVA_LONG, offset),
                memory.segment().get(ValueLayout.JAVA_LONG, offset + 8));
        }

        private boolean take(final int message, final long ofConversation, final long index)
        {
            check(!isClosedHere && !isOver, "a message for an end that is over");
            check(ofConversation == conversation, "a message of " + ofConversation + " for " + conversation);
            check(index == got, "message " + index + " where " + got + " was due: lost, twice, or out of order");
            got++;
            if (random.nextInt(3) == 0)
            {
                kept.add(message);
                return false;
            }
            return true;
        }

        @Override
        public void onSent(final MessageEndpoint from, final int cookie, final int status)
        {
            final Integer oldest = awaited.poll();
            check(oldest != null && oldest == cookie, "message " + cookie + " was reported where " + oldest + " was");
            check(status != WorkCompletionStatus.RNR_RETRY_EXC_ERR, "RNR");
            delivered += status == WorkCompletionStatus.SUCCESS ? 1 : 0;
            withoutEffect += status == WorkCompletionStatus.WR_FLUSH_ERR ? 1 : 0;
            unknown += status == BatchListener.OUTCOME_UNKNOWN ? 1 : 0;
            check(delivered + withoutEffect + unknown == posted - awaited.size(), "status " + status);
        }

        @Override
        public void onEnded(final MessageEndpoint from, final String reason)
        {
            check(!isOver && awaited.isEmpty(), "ended twice, or with " + awaited.size() + " not reported");
            check(!reason.contains("RNR"), reason);
            isOver = true;
            ends++;
        }

        private void drive()
        {
            while (!kept.isEmpty() && (isStopping || random.nextInt(4) == 0))
            {
                endpoint.release(kept.poll());
            }
            for (int i = 0; i < 2 && !isStopping && endpoint.state() == MessageState.OPEN && posted < SLOTS; i++)
            {
                post();
            }
        }

        private void post()
        {
            final long target = (long)posted * SLOT_BYTES;
            final long offset = (long)SLOTS * SLOT_BYTES + target;
            memory.segment().set(ValueLayout.JAVA_LONG, offset, conversation);
            memory.segment().set(ValueLayout.JAVA_LONG, offset + 8, (long)posted);
            final int status = random.nextBoolean() ? endpoint.send(memory, offset, 16, posted) :
                endpoint.write(memory, offset, 16, target, posted % 8, posted);
            if (status == PostStatus.OK)
            {
                awaited.add(posted++);
                sent++;
            }
        }

        private boolean isFinished()
        {
            return isOver || endpoint.state() == MessageState.ENDED && awaited.isEmpty();
        }
    }

    final SimNode node;
    final RaasContext context;
    final Map<Long, Line> lines = new HashMap<>();
    final RpcServer rpcServer;
    boolean isStopping;
    int sent;
    int ends;
    int opened;
    private final SimWorld world;
    private final RandomGenerator random;
    private final List<Line> active = new ArrayList<>();
    private final PeerAddress server;
    private final int nodeId;
    private int lastConversation;

    /** @param server whom to open with; null for the server itself. */
    MessageSimPeer(
        final SimWorld world, final SimNode node, final PeerAddress server, final int nodeId, final boolean isSharing,
        final boolean isReplaying)
    {
        this.world = world;
        this.node = node;
        this.server = server;
        this.nodeId = nodeId;
        random = world.random();
        context = RaasContext.open(node.device(), new RaasConfiguration()
            .sendQueueDepth(24).maxBatchRequests(4).rpcCredits(2).messageReceives(LINES * (CREDITS + 3) + 3)
            .replayTimeoutNs(isReplaying ? 1_000_000 : 0).probeIntervalNs(100_000)
            .sharesReceives(isSharing).identity(new PeerIdentity(nodeId, 1)));
        rpcServer = server == null ? serve() : null;
        node.addAgent(this);
    }

    private RpcServer serve()
    {
        final RpcServer made = context.serve(PORT,
            (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0]),
            (caller, method, request, offset, length, reply) -> RpcReply.REFUSED);
        MessageEndpoint.accept(made, (identity, service, mine) ->
        {
            final Line line = newLine(service);
            mine.credits(CREDITS).grants(line.memory, 0, (long)SLOTS * SLOT_BYTES);
            return line;
        });
        return made;
    }

    private Line newLine(final long conversation)
    {
        final Line line = new Line(conversation, context.protectionDomain().allocateRegistered(
            2L * SLOTS * SLOT_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE));
        check(lines.put(conversation, line) == null, "conversation " + conversation + " was opened twice");
        active.add(line);
        return line;
    }

    private void open()
    {
        final Line line = newLine(nodeId * 1_000_000L + ++lastConversation);
        line.endpoint = MessageEndpoint.open(context, context.defaultTenant(), server, new MessageOptions()
            .credits(CREDITS).service((int)line.conversation).grants(line.memory, 0, (long)SLOTS * SLOT_BYTES),
            line, OPEN_TIMEOUT_NS);
        opened++;
    }

    @Override
    public int doWork()
    {
        final int work = context.poll(world.clock().nanoTime());
        for (int i = active.size() - 1; i >= 0; i--)
        {
            final Line line = active.get(i);
            if (line.endpoint == null)
            {
                continue;
            }
            line.drive();
            if (line.isFinished() || random.nextInt(60) == 0 && line.posted > 0)
            {
                line.isClosedHere = true;
                line.endpoint.close();
                active.remove(i);
            }
        }
        while (server != null && !isStopping && active.size() < LINES)
        {
            open();
        }
        return work;
    }

    /** Ends everything. */
    void stop()
    {
        isStopping = true;
        active.forEach(line -> line.isClosedHere = true);
        active.forEach(line ->
        {
            if (line.endpoint != null)
            {
                line.endpoint.close();
            }
        });
        active.clear();
    }

    @Override
    public String toString()
    {
        return node.name() + lines.values().stream().filter(line -> line.endpoint != null)
            .map(line -> line.endpoint.toString()).filter(text -> !text.contains(" gone")).toList();
    }

    boolean isQuiet()
    {
        return context.usage().messages().endpoints() == 0;
    }

    private void check(final boolean holds, final String what)
    {
        if (!holds)
        {
            throw new AssertionError(node.name() + ": " + what);
        }
    }

    @Override
    public String roleName()
    {
        return "messages";
    }
}
