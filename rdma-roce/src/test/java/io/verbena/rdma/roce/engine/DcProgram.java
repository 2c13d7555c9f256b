package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several initiators that post random requests to the targets of two nodes, which have fewer contexts than there are
 * initiators. Besides the faults of the network, packets that were sent before are sent once more, much later: those of
 * earlier connections, too. Each initiator has a slot of its own at each node, so that what a READ finds follows from
 * the program; all add to one word of each node; messages say who sent them as which.
 */
final class DcProgram
{
    private static final int OPERATIONS = 60;
    private static final int INITIATORS = 5;
    private static final int SLOT_BYTES = 1200;
    private static final int RECEIVE_BYTES = 1200;
    private static final int SENDER_SHIFT = 16;
    private static final int LATE_PACKETS = 64;
    private static final long LIMIT_NS = 1_000_000_000_000L;

    /** A posted request. */
    private static final class Posted
    {
        int operation;
        boolean isSignaled;
        byte[] expected;
        int localOffset;
        EngineNode peer;
    }

    private final SplittableRandom random;
    private final LossyNetwork network;
    private final List<EngineNode> servers = new ArrayList<>();
    private final List<DcTarget> targets = new ArrayList<>();
    private final Map<DcTarget, EngineNode> homes = new HashMap<>();
    private final Map<Integer, SharedReceiveQueue> shared = new HashMap<>();
    private final Map<EngineNode, Integer> additions = new HashMap<>();
    private final Map<EngineNode, List<Long>> found = new HashMap<>();
    private final List<Initiator> initiators = new ArrayList<>();
    private final List<RocePacket> late = new ArrayList<>();
    private final boolean repeatsLate;
    private int received;
    private int sent;

    /** One initiator and what it has posted. */
    private final class Initiator
    {
        final int index;
        final EngineNode node;
        final RoceQueuePair queuePair;
        final Map<EngineNode, AddressHandle> handles = new HashMap<>();
        final Map<EngineNode, byte[]> slots = new HashMap<>();
        final List<Posted> posted = new ArrayList<>();
        final List<Integer> messages = new ArrayList<>();
        int nextSignaled;
        int nextReceived;
        int left = OPERATIONS;

        Initiator(final int index, final EngineNode node)
        {
            this.index = index;
            this.node = node;
            queuePair = DcRig.initiator(node, 256 << random.nextInt(3), 18, 7);
            for (final EngineNode server : servers)
            {
                handles.put(server, DcRig.to(node, server));
                slots.put(server, new byte[SLOT_BYTES]);
            }
        }

        int slotOffset()
        {
            return 1024 + index * SLOT_BYTES;
        }

        boolean isDone()
        {
            return left == 0 && nextSignaled == posted.size();
        }

        void postSome()
        {
            if (left == 0 || posted.size() - nextSignaled > 24)
            {
                return;
            }
            queuePair.begin();
            DcTarget target = targets.get(random.nextInt(targets.size()));
            final int batch = Math.min(left, 1 + random.nextInt(6));
            for (int i = 0; i < batch; i++)
            {
                post(target, i == batch - 1);
                target = random.nextInt(3) > 0 ? target : targets.get(random.nextInt(targets.size()));
                left--;
            }
            assertThat(queuePair.complete()).isZero();
        }

        private void post(final DcTarget target, final boolean isLast)
        {
            final Posted request = new Posted();
            final int id = posted.size();
            final EngineNode peer = homes.get(target);
            request.peer = peer;
            request.operation = random.nextInt(4);
            request.isSignaled = isLast || random.nextBoolean();
            request.localOffset = 20_000 + (index * 32 + id % 32) * SLOT_BYTES;
            final int flags = request.isSignaled ? SendFlags.SIGNALED : 0;
            final int lengthBytes = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(SLOT_BYTES);
            final long local = node.at(request.localOffset);
            switch (request.operation)
            {
                case WorkRequest.SEND ->
                {
                    fill(request, lengthBytes);
                    queuePair.sendWithImmediate(id, flags, local, lengthBytes, node.key(), message());
                }
                case WorkRequest.WRITE -> write(request, id, flags | SendFlags.FENCE, peer, lengthBytes);
                case WorkRequest.READ ->
                {
                    request.expected = Arrays.copyOf(slots.get(peer), lengthBytes);
                    queuePair.read(id, flags, local, lengthBytes, node.key(), peer.at(slotOffset()), peer.key());
                }
                default ->
                {
                    request.operation = WorkRequest.FETCH_ADD;
                    additions.merge(peer, 1, Integer::sum);
                    queuePair.fetchAdd(id, flags, local, node.key(), peer.at(0), peer.key(), 1);
                }
            }
            queuePair.toDcTarget(handles.get(peer), target.number(), DcRig.KEY);
            posted.add(request);
        }

        private void write(
            final Posted request, final int id, final int flags, final EngineNode peer, final int lengthBytes)
        {
            final byte[] bytes = fill(request, lengthBytes);
            System.arraycopy(bytes, 0, slots.get(peer), 0, lengthBytes);
            if (random.nextInt(3) == 0)
            {
                queuePair.writeWithImmediate(id, flags, node.at(request.localOffset), lengthBytes, node.key(),
                    peer.at(slotOffset()), peer.key(), message());
            }
            else
            {
                queuePair.write(id, flags, node.at(request.localOffset), lengthBytes, node.key(),
                    peer.at(slotOffset()), peer.key());
            }
        }

        private byte[] fill(final Posted request, final int lengthBytes)
        {
            final byte[] bytes = new byte[lengthBytes];
            random.nextBytes(bytes);
            node.memory().asSlice(request.localOffset, lengthBytes).copyFrom(MemorySegment.ofArray(bytes));
            return bytes;
        }

        private int message()
        {
            sent++;
            messages.add(messages.size());
            return index << SENDER_SHIFT | messages.size() - 1;
        }

        void onCompletion(final Completion completion)
        {
            while (!posted.get(nextSignaled).isSignaled)
            {
                onDone(posted.get(nextSignaled++));
            }
            assertThat(completion.status()).as("%s of %s", completion, queuePair)
                .isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(completion.wrId()).isEqualTo(nextSignaled);
            onDone(posted.get(nextSignaled++));
        }

        private void onDone(final Posted request)
        {
            if (request.operation == WorkRequest.READ)
            {
                assertThat(node.memory().asSlice(request.localOffset, request.expected.length)
                    .toArray(ValueLayout.JAVA_BYTE)).isEqualTo(request.expected);
            }
            else if (request.operation == WorkRequest.FETCH_ADD)
            {
                found.computeIfAbsent(request.peer, (key) -> new ArrayList<>())
                    .add(node.word(request.localOffset));
            }
        }
    }

    DcProgram(final long seed)
    {
        random = new SplittableRandom(seed);
        repeatsLate = seed % 3 != 0;
        network = new LossyNetwork(seed * 31, seed % 5 == 0 ? LossyNetwork.Faults.NONE : new LossyNetwork.Faults(
            random.nextInt(50), random.nextInt(50), random.nextInt(20), random.nextInt(100),
            1 + random.nextInt(20_000)));
        network.observe(this::keep);
        for (int i = 0; i < 2; i++)
        {
            final EngineNode server = network.addNode(1 + random.nextInt(48), 1 + random.nextInt(16),
                1 + random.nextInt(4));
            servers.add(server);
            server.onCompletion = (completion) -> onMessage(server, completion);
            for (int j = 0; j < 2; j++)
            {
                addTarget(server, j);
            }
        }
        for (int i = 0; i < 2; i++)
        {
            final EngineNode node = network.addNode(1 + random.nextInt(48), 1 + random.nextInt(16));
            node.onCompletion = this::onSent;
            for (int j = i; j < INITIATORS; j += 2)
            {
                initiators.add(new Initiator(j, node));
            }
        }
    }

    private void addTarget(final EngineNode server, final int index)
    {
        final SharedReceiveQueue queue = server.domain.createSharedReceiveQueue(8);
        final DcTarget target = DcRig.target(server, queue, AccessFlags.ALL_REMOTE, 1 + random.nextInt(4));
        targets.add(target);
        homes.put(target, server);
        shared.put(target.number(), queue);
        for (int i = 0; i < 3; i++)
        {
            final int offset = 140_000 + (index * 4 + i) * RECEIVE_BYTES;
            assertThat(queue.postReceive(offset, server.at(offset), RECEIVE_BYTES, server.key())).isZero();
        }
    }

    private void keep(final RocePacket packet)
    {
        // A late DC_CONNECT takes a context for 2 s: were there many, nobody else would ever get one.
        final boolean isConnect =
            BthDescriptor.opcode(packet.buffer(), 0) == (RoceOpcode.DC | RoceOpcode.DC_CONNECT);
        if (repeatsLate && random.nextInt(isConnect ? 500 : 10) == 0)
        {
            final RocePacket copy = new RocePacket();
            copy.copyOf(packet);
            late.add(copy);
        }
        if (late.size() > LATE_PACKETS)
        {
            network.inject(late.remove(random.nextInt(late.size())), random.nextInt(3_000_000));
        }
    }

    private void onSent(final Completion completion)
    {
        initiators.stream().filter((initiator) -> initiator.queuePair.number() == completion.number()).findFirst()
            .orElseThrow().onCompletion(completion);
    }

    private void onMessage(final EngineNode server, final Completion completion)
    {
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completion.opcode()).isGreaterThanOrEqualTo(WorkCompletionOpcode.RECV);
        final Initiator sender = initiators.stream().filter(
            (initiator) -> initiator.index == completion.immediate() >>> SENDER_SHIFT).findFirst().orElseThrow();
        assertThat(completion.immediate() & (1 << SENDER_SHIFT) - 1).as("message").isEqualTo(sender.nextReceived);
        sender.nextReceived++;
        received++;
        final int offset = (int)completion.wrId();
        assertThat(shared.get(completion.number()).postReceive(
            offset, server.at(offset), RECEIVE_BYTES, server.key())).isZero();
    }

    void run()
    {
        final boolean isDone = network.run(() ->
        {
            initiators.forEach(Initiator::postSome);
            return initiators.stream().allMatch(Initiator::isDone);
        }, LIMIT_NS);
        assertThat(isDone).as("stuck at %d ns", network.nowNs()).isTrue();
        network.settle();
        late.forEach((packet) -> network.inject(packet, random.nextInt(1_000_000)));
        network.settle();
        checkEnd();
    }

    private void checkEnd()
    {
        assertThat(received).isEqualTo(sent);
        for (final EngineNode server : servers)
        {
            final List<Long> values = found.getOrDefault(server, List.of());
            assertThat(server.word(0)).isEqualTo(additions.getOrDefault(server, 0).longValue());
            assertThat(values).doesNotHaveDuplicates().hasSize((int)server.word(0));
            assertThat(server.engine.counters().refused).isZero();
            for (final Initiator initiator : initiators)
            {
                assertThat(server.memory().asSlice(initiator.slotOffset(), SLOT_BYTES)
                    .toArray(ValueLayout.JAVA_BYTE)).isEqualTo(initiator.slots.get(server));
            }
        }
        for (final DcTarget target : targets)
        {
            assertThat(target.accessKeyViolations()).isZero();
            target.close();
        }
    }
}
